/**
 * The parameters of an OAuth callback's URL. One that isn't there may be `null`,
 * as `searchParams.get()` returns it.
 */
export interface OAuthCallbackParameters {
  /** The parameter `code`. It is there unless `error` is. */
  readonly code?: string | null | undefined;
  /** The parameter `state`. */
  readonly state: string | null;
  /** The redirect URI of the start. Default: the provider's, if it has one. */
  readonly redirectUri?: string | undefined;
  /**
   * The parameter `iss`, the issuer of the answer (RFC 9207). A foreign issuer
   * is refused with `OAUTH_STATE_MISMATCH`. So is a callback without `iss`, if
   * the provider's discovery document says that it always sends one.
   */
  readonly iss?: string | null | undefined;
  /**
   * The parameter `error` (RFC 6749, section 4.1.2.1). It never signs anyone in:
   * `access_denied` and the like are `INVALID_CREDENTIALS`, others
   * `OAUTH_FAILED`.
   */
  readonly error?: string | null | undefined;
  /** The parameter `error_description`, for the log. */
  readonly error_description?: string | null | undefined;
}
