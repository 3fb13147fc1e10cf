import type { BaseUser, Session, User } from "./user.ts";

/** Options of {@linkcode AuthContext.signInAs}. */
export interface SignInAsOptions<P extends string = string> {
  /** The id of a provider, for `session.provider`. Default: none. */
  readonly provider?: P | undefined;
}

/**
 * The user of a request, and sign-in, sign-out and refresh. One per request, in
 * `context.get("auth")`.
 *
 * @typeParam U The type of the users.
 * @typeParam P The ids of the providers, if they are known.
 */
export interface AuthContext<
  U extends BaseUser = User,
  P extends string = string,
> {
  /** The session of the request; `null` if it is anonymous. */
  readonly session: Session<U> | null;
  /**
   * The return address of the OAuth sign-in that `handleOAuthCallback()` has
   * completed or refused: a path of this server. `null` if there is none.
   */
  readonly returnTo: string | null;
  /**
   * Signs in. This ends the old session of the request. The new one has another
   * id, and the response gets its cookie.
   *
   * @param provider The id of a provider.
   * @param credentials The input of the provider's `authorize`.
   * @throws {AuthError} `UNKNOWN_PROVIDER`, `INVALID_CREDENTIALS` or
   * `RATE_LIMITED`.
   * @throws {TypeError} If the credentials are an instance of a class, such as
   * `FormData`.
   */
  signIn(
    provider: P,
    credentials: Record<string, unknown>,
  ): Promise<Session<U>>;
  /**
   * Signs in a user whom the application has checked itself, for example after
   * sign-up, with a magic link or a passkey. Like `signIn()`, it ends the
   * old session, calls the callbacks and emits `sign_in`. `signInLimiter` isn't
   * asked.
   *
   * @param user The user. Keys that look like secrets don't enter the session.
   * @param options The provider that the session names.
   * @throws {TypeError} If the user has no `id`, a field has the wrong type, or
   * no provider has the id.
   */
  signInAs(user: U, options?: SignInAsOptions<P>): Promise<Session<U>>;
  /** Signs out, and removes the cookie with the response. */
  signOut(): Promise<void>;
  /** Whether the request is authenticated. */
  isAuthenticated(): boolean;
  /** Whether the user has a role. */
  hasRole(role: string): boolean;
  /**
   * Whether the user has at least one of the roles.
   *
   * @throws {TypeError} If `roles` isn't an array.
   */
  hasAnyRole(roles: readonly string[]): boolean;
  /**
   * Whether the request is authenticated and the user has all of the roles.
   *
   * @throws {TypeError} If `roles` isn't an array.
   */
  hasAllRoles(roles: readonly string[]): boolean;
  /** Returns the user of the session, with all fields that were kept. */
  getUser(): U | null;
  /**
   * Returns the session as a token, for `Authorization: Bearer`. Returns `null`
   * if the request is anonymous, or has no session, as with an API key.
   */
  getToken(): Promise<string | null>;
  /**
   * Renews the session if it is older than `updateAge`.
   *
   * @returns The present session, or `null` if it has ended.
   */
  refreshSession(): Promise<Session<U> | null>;
  /**
   * Returns a value of `Set-Cookie` for the response, or `null`. The plugin
   * adds it to the response, unless a handler did.
   */
  getCookieHeader(): string | null;
  /** Returns all of them: a long token takes several cookies. */
  getCookieHeaders(): string[];
}

/** The auth of an authenticated request. */
export interface AuthenticatedContext<
  U extends BaseUser = User,
  P extends string = string,
> extends AuthContext<U, P> {
  /** The session of the request. */
  readonly session: Session<U>;
  /** The user of the session. */
  getUser(): U;
}
