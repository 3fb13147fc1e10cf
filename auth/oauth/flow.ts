import { checkValue } from "../../core/check/check_options.ts";
import { show } from "../../core/check/show.ts";
import type { CookieSettings } from "../cookies/cookie_settings.ts";
import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import type { AuthProvider, OAuthCallback } from "../provider.ts";
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
import { createReplayGuard } from "./replay_guard.ts";

/** The characters of codes (RFC 6749, appendix A.11), and a generous length. */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** The options of {@linkcode createOAuthFlow}. */
export interface OAuthFlowOptions {
  /** Seals what the browser keeps. */
  readonly keys: KeyRing;
  /** The settings of the session's cookie, also used for pending sign-ins. */
  readonly cookie: CookieSettings;
  /** Returns the time in milliseconds of the Unix epoch. */
  readonly now: () => number;
}

/** Sign-in at a third party. */
export interface OAuthFlow {
  /**
   * Begins a sign-in.
   *
   * @param redirectUri Where the provider sends the user afterwards. Default:
   * the provider's. If the provider has one, no other is allowed.
   * @param cookieHeader The request's `Cookie` header.
   * @returns The authorization URL, and values of `Set-Cookie`.
   * @throws {AuthError} `UNKNOWN_PROVIDER` if it isn't of type `oauth`.
   * @throws {TypeError} If the redirect URI isn't valid.
   */
  begin<U extends BaseUser>(
    provider: AuthProvider<U>,
    redirectUri: string | undefined,
    cookieHeader: string | null,
  ): { url: string; cookies: string[] };
  /**
   * Ends a sign-in. Only the browser that began it can end it: once, within 10
   * minutes, for the same provider and redirect URI.
   *
   * @returns Values of `Set-Cookie`, to send whether the sign-in succeeds or not;
   * and the user, which rejects with an {@linkcode AuthError} if there is none.
   */
  finish<U extends BaseUser>(
    provider: AuthProvider<U>,
    answer: OAuthCallbackParameters,
    cookieHeader: string | null,
  ): { cookies: string[]; user: Promise<U> };
}

/** Creates the {@linkcode OAuthFlow} of a plugin. */
export function createOAuthFlow(options: OAuthFlowOptions): OAuthFlow {
  const { keys, cookie, now } = options;
  const cookies = createFlowCookies(keys, cookie);
  // Twice, because the clock of the server that began a sign-in may be ahead.
  const isFirstUse = createReplayGuard(2 * LIFETIME);

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
    if (!isFirstUse(pending.state, time)) return "the state was used before";
    const age = time - pending.begun;
    if (Math.abs(age) >= LIFETIME) {
      return `the sign-in was begun ${Math.round(age / 1000)} s ago, and only ${
        LIFETIME / 1000
      } s are allowed`;
    }
    if (pending.provider !== id) {
      return `the sign-in was begun with provider ${
        show(pending.provider)
      }, not ${show(id)}`;
    }
    if (
      typeof redirectUri !== "string" ||
      !isEqual(digest(redirectUri), pending.redirect)
    ) {
      return "the redirect URI is not the one that the sign-in was begun with";
    }
    return issuerProblem(answer.iss, {
      issuer,
      server: pending.server,
      isRequired: pending.isIssuerRequired ?? false,
    });
  }

  async function complete<U extends BaseUser>(
    provider: AuthProvider<U>,
    pending: PendingSignIn | string,
    answer: OAuthCallbackParameters,
    redirectUri: string | undefined,
  ): Promise<U> {
    if (provider.handleCallback === undefined) throw notOAuth(provider.id);
    if (typeof pending === "string") throw stateMismatch(pending);
    const problem = mismatch(pending, provider, answer, redirectUri);
    if (problem !== undefined) throw stateMismatch(problem);
    const { state, verifier, nonce } = pending;
    const { code } = answer;
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
    const callback: OAuthCallback = {
      code,
      state,
      redirectUri: redirectUri!,
      codeVerifier: verifier,
      nonce,
      onRefused: (reason) => refusal = new SignInReason(reason),
    };
    let user: U | null;
    try {
      user = await provider.handleCallback(callback);
    } catch (cause) {
      throw cause instanceof ProfileFailure ? cause.cause : oauthFailed(cause);
    }
    // Untyped code may return `undefined` instead of `null`.
    if (user === null || user === undefined) throw invalidCredentials(refusal);
    return user;
  }

  return {
    begin(provider, requested, cookieHeader) {
      if (provider.getAuthorizationUrl === undefined) {
        throw notOAuth(provider.id);
      }
      const redirectUri = readRedirectUri(provider, requested);
      const state = randomValue();
      const verifier = randomValue();
      const nonce = randomValue();
      const url = provider.getAuthorizationUrl(state, redirectUri, {
        codeChallenge: digest(verifier),
        nonce,
      });
      const pending: PendingSignIn = {
        state,
        provider: provider.id,
        redirect: digest(redirectUri),
        verifier,
        nonce,
        begun: now(),
        server: serverOf(url),
        isIssuerRequired: provider.isIssuerRequired === true,
      };
      return { url, cookies: cookies.add(pending, cookieHeader) };
    },
    finish(provider, answer, cookieHeader) {
      const { state, redirectUri = provider.redirectUri } = answer;
      const pending = cookies.find(state, cookieHeader);
      return {
        cookies: cookies.remove(state),
        user: complete(provider, pending, answer, redirectUri),
      };
    },
  };
}

function readRedirectUri<U extends BaseUser>(
  provider: AuthProvider<U>,
  requested: string | undefined,
): string {
  const { redirectUri = requested } = provider;
  checkValue(redirectUri, "redirectUri", aRedirectUri, "begin sign-in");
  if (requested !== undefined && requested !== redirectUri) {
    throw new TypeError(
      `Cannot begin sign-in: redirectUri must be ${
        show(redirectUri)
      }, the only one of provider ${show(provider.id)}, received ${
        show(requested)
      }`,
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
