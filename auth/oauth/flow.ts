import { checkValue } from "../../core/check/options.ts";
import { show } from "../../core/check/rules.ts";
import { GenerationMap } from "../../core/collections/generation_map.ts";
import type { CookieSettings } from "../cookies/cookie_settings.ts";
import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import type { AuthProvider } from "../provider.ts";
import { isSafeRedirect } from "../safe_redirect.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import type { BaseUser } from "../user.ts";
import { aRedirectUri } from "./address.ts";
import {
  errorOfCallback,
  type OAuthCallbackParameters,
  oauthFailed,
  ProfileFailure,
} from "./callback.ts";
import {
  createFlowCookies,
  LIFETIME,
  type PendingSignIn,
} from "./flow_cookie.ts";
import { issuerProblem, serverOf } from "./issuer.ts";
import { digest, isEqual, randomValue } from "./pkce.ts";

/** The characters of codes (RFC 6749, appendix A.11), and a generous length. */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** Maximum characters of a return address. It is part of a cookie. */
const MAX_RETURN_TO = 512;
/** Maximum used states that are remembered. */
const MAX_STATES = 100_000;

/**
 * Creates the sign-in at a third party, for the providers of one plugin.
 *
 * @param keys Seals what the browser keeps.
 * @param cookie The settings of the session's cookie, also used for pending
 * sign-ins.
 * @param now Returns the time in milliseconds of the Unix epoch.
 */
export function createOAuthFlow(
  keys: KeyRing,
  cookie: CookieSettings,
  now: () => number,
) {
  const flowCookies = createFlowCookies(keys, cookie);
  /**
   * The replay guard: used states.
   *
   * An attacker who completes 50,000 sign-ins can make it forget a state early,
   * without a gain: providers accept each code once (RFC 6749, section 4.1.2).
   */
  const used = new GenerationMap<string, true>({
    maxSize: MAX_STATES,
    // Twice, because the clock of the server that began a sign-in may be ahead.
    lifetime: 2 * LIFETIME,
  });

  /**
   * Begins a sign-in.
   *
   * @param requested Where the provider sends the user afterwards. Default: the
   * provider's redirect URI. If the provider has one, no other is allowed.
   * @param cookieHeader The request's `Cookie` header.
   * @param returnTo The path to go to afterwards. Other values are ignored.
   * @returns The authorization URL, and values of `Set-Cookie`.
   * @throws {AuthError} `UNKNOWN_PROVIDER` if it isn't of type `oauth`.
   * @throws {TypeError} If the redirect URI isn't valid.
   */
  function begin<U extends BaseUser>(
    provider: AuthProvider<U>,
    requested: string | undefined,
    cookieHeader: string | null,
    returnTo?: unknown,
  ): { url: string; cookies: string[] } {
    if (provider.getAuthorizationUrl === undefined) throw notOAuth(provider.id);
    const redirectUri = readRedirectUri(provider, requested);
    const state = randomValue();
    const verifier = randomValue();
    const nonce = randomValue();
    const signIn = { codeChallenge: digest(verifier), nonce };
    const url = provider.getAuthorizationUrl(state, redirectUri, signIn);
    const pending: PendingSignIn = {
      state,
      provider: provider.id,
      redirect: digest(redirectUri),
      verifier,
      nonce,
      begun: now(),
      server: serverOf(url),
      isIssuerRequired: provider.isIssuerRequired === true,
      returnTo: isReturnAddress(returnTo) ? returnTo : undefined,
    };
    return { url, cookies: flowCookies.add(pending, cookieHeader) };
  }

  /**
   * Ends a sign-in. Only the browser that began it can end it: once, within 10
   * minutes, for the same provider and redirect URI.
   *
   * @returns Values of `Set-Cookie`, to send whether the sign-in succeeds or not;
   * the user, which rejects with an {@linkcode AuthError} if there is none; and
   * the path to go to.
   */
  function finish<U extends BaseUser>(
    provider: AuthProvider<U>,
    answer: OAuthCallbackParameters,
    cookieHeader: string | null,
  ): { cookies: string[]; user: Promise<U>; returnTo: string | undefined } {
    const pending = flowCookies.find(answer.state, cookieHeader);
    return {
      cookies: flowCookies.remove(answer.state),
      user: complete(provider, answer, pending),
      returnTo: typeof pending === "string" ? undefined : pending.returnTo,
    };
  }

  async function complete<U extends BaseUser>(
    provider: AuthProvider<U>,
    answer: OAuthCallbackParameters,
    pending: PendingSignIn | string,
  ): Promise<U> {
    if (provider.handleCallback === undefined) throw notOAuth(provider.id);
    if (typeof pending === "string") throw stateMismatch(pending);
    const { code, redirectUri = provider.redirectUri } = answer;
    const problem = mismatch(pending, provider, answer, redirectUri);
    if (problem !== undefined) throw stateMismatch(problem);
    const { state, verifier, nonce } = pending;
    const secrets = [state, verifier, nonce];
    if (typeof code === "string") secrets.push(code);
    const error = errorOfCallback(answer, secrets);
    if (error !== undefined) throw error;
    if (typeof code !== "string" || !CODE.test(code)) {
      throw stateMismatch(
        "the code must be a string of 1 to 8192 visible characters",
      );
    }
    let refusal: SignInReason | undefined;
    let user: U | null;
    try {
      user = await provider.handleCallback({
        code,
        state,
        redirectUri: redirectUri!,
        codeVerifier: verifier,
        nonce,
        onRefused: (reason) => refusal = new SignInReason(reason),
      });
    } catch (cause) {
      throw cause instanceof ProfileFailure ? cause.cause : oauthFailed(cause);
    }
    // Untyped code may return `undefined` instead of `null`.
    if (user === null || user === undefined) throw invalidCredentials(refusal);
    return user;
  }

  /** Returns why a callback isn't the end of a sign-in, if it isn't. */
  function mismatch<U extends BaseUser>(
    pending: PendingSignIn,
    { id, issuer }: AuthProvider<U>,
    answer: OAuthCallbackParameters,
    redirectUri: unknown,
  ): string | undefined {
    if (!isEqual(pending.state, answer.state as string)) {
      return "the state is not the one in its cookie";
    }
    const time = now();
    used.advance(time);
    if (used.peek(pending.state)) return "the state was used before";
    used.set(pending.state, true);
    const age = time - pending.begun;
    if (Math.abs(age) >= LIFETIME) {
      return `the sign-in was begun ${Math.round(age / 1000)} s ago, and only ${
        LIFETIME / 1000
      } s are allowed`;
    }
    if (pending.provider !== id) {
      const begun = show(pending.provider);
      return `the sign-in was begun with provider ${begun}, not ${show(id)}`;
    }
    if (
      typeof redirectUri !== "string" ||
      !isEqual(digest(redirectUri), pending.redirect)
    ) {
      return "the redirect URI is not the one that the sign-in was begun with";
    }
    return issuerProblem(answer.iss, issuer, pending);
  }

  return { begin, finish };
}

/** Whether a value is a path of this server that fits into a cookie. */
function isReturnAddress(value: unknown): value is string {
  return isSafeRedirect(value) && value.startsWith("/") &&
    value.length <= MAX_RETURN_TO;
}

function readRedirectUri<U extends BaseUser>(
  provider: AuthProvider<U>,
  requested: string | undefined,
): string {
  const { redirectUri = requested } = provider;
  checkValue(redirectUri, "redirectUri", aRedirectUri, "begin sign-in");
  if (requested !== undefined && requested !== redirectUri) {
    const received = show(requested);
    throw new TypeError(
      `Cannot begin sign-in: redirectUri must be ${
        show(redirectUri)
      }, the only one of provider ${show(provider.id)}, received ${received}`,
    );
  }
  return redirectUri as string;
}

function notOAuth(id: string): AuthError {
  return new AuthError(
    "UNKNOWN_PROVIDER",
    `Provider ${show(id)} has no OAuth sign-in`,
  );
}

/** The reason is for the log; it holds neither state nor code. */
function stateMismatch(reason: string): AuthError {
  return new AuthError(
    "OAUTH_STATE_MISMATCH",
    "This sign-in was not begun in this browser, or too long ago; please try again",
    { cause: new SignInReason(reason) },
  );
}
