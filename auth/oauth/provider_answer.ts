import { AuthError, invalidCredentials, SignInReason } from "../error.ts";
import type { OAuthCallbackParameters } from "./callback_parameters.ts";
import { errorText } from "./provider_text.ts";

/** Errors that refuse the user, although nothing has failed. */
const DENIED: ReadonlySet<unknown> = new Set([
  // RFC 6749, section 4.1.2.1.
  "access_denied",
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
export function errorOfAnswer(
  { error, error_description }: OAuthCallbackParameters,
  secrets: readonly string[],
): AuthError | undefined {
  if (error === undefined || error === null) return undefined;
  const code = errorText(error, secrets);
  const description = error_description === undefined ||
      error_description === null
    ? ""
    : ` (${errorText(error_description, secrets, MAX_DESCRIPTION)})`;
  const reason = new SignInReason(
    `the provider answered with the error ${code}${description}`,
  );
  return DENIED.has(error) ? invalidCredentials(reason) : oauthFailed(reason);
}

/** Creates the error of a failed provider. Its cause goes to the log only. */
export function oauthFailed(cause: unknown): AuthError {
  return new AuthError(
    "OAUTH_FAILED",
    "The sign-in provider has failed; please try again",
    { cause },
  );
}
