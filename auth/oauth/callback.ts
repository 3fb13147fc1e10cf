/**
 * The parameters of a callback's URL, and the errors of a failed sign-in.
 *
 * @module
 */

import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import { errorText } from "./provider_text.ts";

/**
 * The parameters of an OAuth callback's URL. A missing one may be `null`, as
 * `searchParams.get()` returns it.
 */
export interface OAuthCallbackParameters {
  /** The parameter `code`. Required unless `error` is present. */
  readonly code?: string | null | undefined;
  /** The parameter `state`. */
  readonly state: string | null;
  /** The redirect URI that the sign-in began with. Default: the provider's. */
  readonly redirectUri?: string | undefined;
  /**
   * The parameter `iss`, the issuer of the answer (RFC 9207). A foreign issuer
   * is refused with `OAUTH_STATE_MISMATCH`. So is a callback without `iss`, if
   * the provider's discovery document says that it always sends one.
   */
  readonly iss?: string | null | undefined;
  /**
   * The parameter `error` (RFC 6749, section 4.1.2.1). The sign-in then fails:
   * with `INVALID_CREDENTIALS` for errors such as `access_denied`, and with
   * `OAUTH_FAILED` for others.
   */
  readonly error?: string | null | undefined;
  /** The parameter `error_description`, for the log. */
  readonly error_description?: string | null | undefined;
}

/** Errors that mean a refusal instead of a failure. */
const REFUSALS: ReadonlySet<unknown> = new Set([
  // OpenID Connect Core, section 3.1.2.6.
  "interaction_required",
  "login_required",
  "account_selection_required",
  "consent_required",
]);
const MAX_DESCRIPTION = 200;

/**
 * Returns the error to throw for a callback's `error`, or `undefined` if it has
 * none. The provider's text goes to the log only.
 *
 * @param secrets Values that must not appear in the log.
 */
export function errorOfCallback(
  { error, error_description }: OAuthCallbackParameters,
  secrets: readonly string[],
): AuthError | undefined {
  if (error === undefined || error === null) return undefined;
  const description = error_description ?? undefined;
  const details = description === undefined
    ? ""
    : ` (${errorText(description, secrets, MAX_DESCRIPTION)})`;
  const shown = errorText(error, secrets) + details;
  const reason = new SignInReason(
    `the provider answered with the error ${shown}`,
  );
  if (error === "access_denied") {
    const message = "The sign-in was cancelled";
    return new AuthError("INVALID_CREDENTIALS", message, { cause: reason });
  }
  return REFUSALS.has(error) ? invalidCredentials(reason) : oauthFailed(reason);
}

/** Creates the error of a failed provider. Its cause goes to the log only. */
export function oauthFailed(cause: unknown): AuthError {
  return new AuthError(
    "OAUTH_FAILED",
    "The sign-in provider has failed; please try again",
    { cause },
  );
}

/** Wraps what an application's `profile()` throws: not the provider's failure. */
export class ProfileFailure extends Error {
  /** Creates a wrapper. */
  constructor(cause: unknown) {
    super("profile() has failed", { cause });
  }
}
