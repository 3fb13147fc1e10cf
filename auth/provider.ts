import type { BaseUser, User } from "./user.ts";

/** Parameters of an authorization URL in addition to the state. */
export interface AuthorizationParameters {
  /** The PKCE challenge, by the method `S256` (RFC 7636, section 4.2). */
  readonly codeChallenge: string;
  /** Ties an id token to this sign-in (OpenID Connect Core, section 2). */
  readonly nonce: string;
}

/** The answer of an OAuth provider, with the data that was kept for it. */
export interface OAuthCallback {
  /** The authorization code. */
  readonly code: string;
  /** The state; it has been checked. */
  readonly state: string;
  /** The redirect URI of the authorization URL. */
  readonly redirectUri: string;
  /** The verifier of the PKCE challenge (RFC 7636, section 4.1). */
  readonly codeVerifier?: string | undefined;
  /** The nonce of the authorization URL. */
  readonly nonce?: string | undefined;
  /** Takes the reason for a `null`, for the log only. */
  readonly onRefused?: ((reason: string) => void) | undefined;
}

/**
 * A way to authenticate users.
 *
 * @typeParam U The type of the users.
 * @typeParam Id The provider's id, if it is known. Then a misspelled id in
 * `signIn()` doesn't compile.
 */
export interface AuthProvider<
  U extends BaseUser = User,
  Id extends string = string,
> {
  /** The provider's id in `signIn()`. It must be unique. */
  readonly id: Id;
  /** A name for people to read. */
  readonly name: string;
  /** Whether it checks credentials itself, or a third party does. */
  readonly type: "credentials" | "oauth";
  /** The one redirect URI that is allowed, if only one is. OAuth only. */
  readonly redirectUri?: string | undefined;
  /**
   * The issuer that a callback must have in `iss` (RFC 9207). OAuth only.
   * Default: any issuer that the authorization URL is below.
   */
  readonly issuer?: string | undefined;
  /**
   * Whether a callback without `iss` is refused. Set it if the provider always
   * sends `iss`. OAuth only. Default `false`.
   */
  readonly isIssuerRequired?: boolean | undefined;
  /**
   * Runs once, before the app answers its first request. OAuth providers request
   * the issuer's discovery document here.
   */
  setup?(): void | Promise<void>;
  /**
   * Authenticates credentials. `null` means failure. OAuth providers always
   * return `null`.
   */
  authorize(credentials: Record<string, unknown>): Promise<U | null>;
  /** Returns the URL to send the user to. OAuth only. */
  getAuthorizationUrl?(
    state: string,
    redirectUri: string,
    parameters?: AuthorizationParameters,
  ): string;
  /** Completes the OAuth callback. `null` means failure. OAuth only. */
  handleCallback?(callback: OAuthCallback): Promise<U | null>;
  /**
   * Authenticates a request by its content, for that request only and without a
   * cookie. Returns `undefined` if the request has no credentials for this
   * provider. `null` means that they are wrong, and the request is anonymous.
   */
  authenticate?(request: Request): Promise<U | null> | undefined;
  /**
   * Whether browsers send the credentials that `authenticate` reads by
   * themselves. They do so for cookies, Basic credentials, client certificates
   * and network addresses. A page of another site can then send a request in the
   * user's name, so guards apply CSRF checks.
   *
   * `false` turns these checks off. Use it for a header that only programs set,
   * such as `x-api-key`. A function is called for each request that the provider
   * has authenticated. Default: `true`.
   */
  readonly isSentByBrowsers?:
    | boolean
    | ((request: Request) => boolean)
    | undefined;
}

/** The answer of a token endpoint (RFC 6749, section 5.1). */
export interface OAuthTokens {
  /** For requests to the provider's API. Never leaves the server. */
  readonly accessToken: string;
  /** `Bearer`, nearly always. */
  readonly tokenType: string;
  /** The lifetime of the access token, in seconds. */
  readonly expiresIn?: number | undefined;
  /** The token for another access token. */
  readonly refreshToken?: string | undefined;
  /** The granted scope, if the provider states it. */
  readonly scope?: string | undefined;
  /** The user's claims, signed by the provider (OpenID Connect). */
  readonly idToken?: string | undefined;
}
