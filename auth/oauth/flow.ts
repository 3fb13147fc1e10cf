import { show } from "../../core/check/show.ts";
import type { CookieSettings } from "../cookies/cookie_settings.ts";
import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import type { AuthProvider, OAuthCallback } from "../provider.ts";
import type { KeyRing } from "../tokens/key_ring.ts";
import type { BaseUser } from "../user.ts";
import { isRedirectUri, REDIRECT_URI } from "./address.ts";
import type { OAuthCallbackParameters } from "./callback_parameters.ts";
import type { PendingSignIn } from "./flow_cookie.ts";
import { createFlowCookies, LIFETIME } from "./flow_cookie.ts";
import { complaintAboutIssuer, serverOf } from "./issuer.ts";
import { codeChallenge, digest, isEqual, randomValue } from "./pkce.ts";
import { ProfileFailure } from "./profile_failure.ts";
import { errorOfAnswer, oauthFailed } from "./provider_answer.ts";
import { UsedStates } from "./used_states.ts";

/** What codes consist of (RFC 6749, appendix A.11), and more than they have. */
const CODE = /^[\x20-\x7e]{1,8192}$/;

/** What the sign-ins of a plugin need. */
export interface OAuthFlowOptions {
  /** Seals what the browser keeps. */
  readonly keys: KeyRing;
  /** How the session's cookie is set; those of sign-ins follow it. */
  readonly cookie: CookieSettings;
  /** The time, in milliseconds of the Unix epoch. */
  readonly now: () => number;
}

/** Where to send the user, and what the browser has to keep. */
export interface OAuthStart {
  /** The authorization URL. */
  readonly url: string;
  /** Values of `Set-Cookie`. */
  readonly cookies: string[];
}

/** The end of a sign-in. */
export interface OAuthEnd<U extends BaseUser> {
  /** Values of `Set-Cookie`, to be sent whether it has succeeded or not. */
  readonly cookies: string[];
  /** The user. Rejects with an {@linkcode AuthError} if there is none. */
  readonly user: Promise<U>;
}

/** Sign-in by way of a third party: there and back again. */
export interface OAuthFlow {
  /**
   * Begins a sign-in.
   *
   * @param redirectUri Where the provider sends the user afterwards. Default:
   * the provider's, if it has one; then no other is allowed.
   * @param cookieHeader The request's `Cookie` header.
   * @throws {AuthError} `UNKNOWN_PROVIDER` if it isn't of type `oauth`.
   * @throws {TypeError} If the redirect URI isn't fit to be one.
   */
  begin<U extends BaseUser>(
    provider: AuthProvider<U>,
    redirectUri: string | undefined,
    cookieHeader: string | null,
  ): OAuthStart;
  /**
   * Ends a sign-in. Only the browser that has begun it can, once, within 10
   * minutes, for the same provider and redirect URI.
   */
  finish<U extends BaseUser>(
    provider: AuthProvider<U>,
    answer: OAuthCallbackParameters,
    cookieHeader: string | null,
  ): OAuthEnd<U>;
}

/** Makes the {@linkcode OAuthFlow} of a plugin. */
export function createOAuthFlow(options: OAuthFlowOptions): OAuthFlow {
  const { keys, cookie, now } = options;
  const cookies = createFlowCookies(keys, cookie);
  // Twice, because the clock of the server that has begun one may be ahead.
  const used = new UsedStates(2 * LIFETIME);

  /** What the provider needs of a sign-in; throws what is wrong with it. */
  function accept<U extends BaseUser>(
    pending: PendingSignIn | string,
    { id: provider, issuer }: AuthProvider<U>,
    answer: OAuthCallbackParameters,
    redirectUri: string | undefined,
  ): OAuthCallback {
    if (typeof pending === "string") throw stateMismatch(pending);
    const { state } = pending;
    if (!isEqual(state, answer.state as string)) {
      throw stateMismatch("the state is not the one in its cookie");
    }
    const time = now();
    if (!used.use(state, time)) {
      throw stateMismatch("the state was used before");
    }
    const age = time - pending.begun;
    if (Math.abs(age) >= LIFETIME) {
      throw stateMismatch(
        `the sign-in was begun ${Math.round(age / 1000)} s ago, and only ${
          LIFETIME / 1000
        } s are allowed`,
      );
    }
    if (pending.provider !== provider) {
      throw stateMismatch(
        `the sign-in was begun with provider ${show(pending.provider)}, not ${
          show(provider)
        }`,
      );
    }
    if (
      typeof redirectUri !== "string" ||
      !isEqual(digest(redirectUri), pending.redirect)
    ) {
      throw stateMismatch(
        "the redirect URI is not the one that the sign-in was begun with",
      );
    }
    const { server, isIssuerRequired: isRequired = false } = pending;
    const rule = { issuer, server, isRequired };
    const complaint = complaintAboutIssuer(answer.iss, rule);
    if (complaint !== undefined) throw stateMismatch(complaint);
    const { verifier: codeVerifier, nonce } = pending;
    const { code } = answer;
    const secrets = [state, codeVerifier, nonce];
    if (typeof code === "string") secrets.push(code);
    const error = errorOfAnswer(answer, secrets);
    if (error !== undefined) throw error;
    if (typeof code !== "string" || !CODE.test(code)) {
      throw stateMismatch(
        "the code must be a string of 1 to 8192 visible characters",
      );
    }
    return { code, state, redirectUri, codeVerifier, nonce };
  }

  return {
    begin(provider, requested, cookieHeader) {
      if (provider.getAuthorizationUrl === undefined) {
        throw notOAuth(provider.id);
      }
      const redirectUri = readRedirectUri(provider, requested);
      const started = {
        state: randomValue(),
        provider: provider.id,
        redirect: digest(redirectUri),
        verifier: randomValue(),
        nonce: randomValue(),
        begun: now(),
      };
      const { state, verifier, nonce } = started;
      const url = provider.getAuthorizationUrl(state, redirectUri, {
        codeChallenge: codeChallenge(verifier),
        nonce,
      });
      const pending: PendingSignIn = {
        ...started,
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
        user: complete(
          provider,
          () => accept(pending, provider, answer, redirectUri),
        ),
      };
    },
  };
}

async function complete<U extends BaseUser>(
  provider: AuthProvider<U>,
  accept: () => OAuthCallback,
): Promise<U> {
  if (provider.handleCallback === undefined) throw notOAuth(provider.id);
  const callback = accept();
  let refusal: SignInReason | undefined;
  let user: U | null;
  try {
    user = await provider.handleCallback({
      ...callback,
      onRefused(reason) {
        refusal = new SignInReason(reason);
      },
    });
  } catch (cause) {
    if (cause instanceof ProfileFailure) throw cause.cause;
    throw oauthFailed(cause);
  }
  if (user === null || user === undefined) throw invalidCredentials(refusal);
  return user;
}

function readRedirectUri<U extends BaseUser>(
  provider: AuthProvider<U>,
  requested: string | undefined,
): string {
  const { redirectUri = requested } = provider;
  if (!isRedirectUri(redirectUri)) {
    throw new TypeError(
      `Cannot begin sign-in: redirectUri must be ${REDIRECT_URI}, received ${
        show(redirectUri)
      }`,
    );
  }
  if (requested !== undefined && requested !== redirectUri) {
    throw new TypeError(
      `Cannot begin sign-in: redirectUri must be ${
        show(redirectUri)
      }, the only one of provider ${show(provider.id)}, received ${
        show(requested)
      }`,
    );
  }
  return redirectUri;
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
