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
