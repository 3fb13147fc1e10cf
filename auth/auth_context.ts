import type { BaseUser, Session, User } from "./user.ts";

/**
 * Who a request is from, and what can be done about it. One per request, in
 * `context.get("auth")`.
 */
export interface AuthContext<U extends BaseUser = User> {
  /** The session of the request; `null` if it is anonymous. */
  readonly session: Session<U> | null;
  /**
   * Signs in. The session that the request had is ended, the new one has
   * another id, and the response gets its cookie.
   *
   * @param provider The id of a provider.
   * @param credentials What it authenticates by.
   * @throws {AuthError} `UNKNOWN_PROVIDER`, `INVALID_CREDENTIALS` or
   * `RATE_LIMITED`.
   */
  signIn(
    provider: string,
    credentials: Record<string, unknown>,
  ): Promise<Session<U>>;
  /** Signs out, and has the response remove the cookie. */
  signOut(): Promise<void>;
  /** Whether somebody is signed in. */
  isAuthenticated(): boolean;
  /** Whether the user has a role. */
  hasRole(role: string): boolean;
  /** Whether the user has at least one of the roles. */
  hasAnyRole(roles: readonly string[]): boolean;
  /** Whether somebody is signed in and has every one of the roles. */
  hasAllRoles(roles: readonly string[]): boolean;
  /** The user of the session, with all the fields that were kept. */
  getUser(): U | null;
  /**
   * The session as a token, for `Authorization: Bearer`. `null` if the request
   * is anonymous, or was authenticated for itself alone, as by an API key.
   */
  getToken(): Promise<string | null>;
  /**
   * Gives the session a new term if it is older than `updateAge`.
   *
   * @returns The session as it is now; `null` if there is none any more.
   */
  refreshSession(): Promise<Session<U> | null>;
  /**
   * The value of a `Set-Cookie` header that the response has to carry, if there
   * is one. The plugin adds what the response doesn't carry by itself.
   */
  getCookieHeader(): string | null;
  /** All of them: a long token takes several cookies. */
  getCookieHeaders(): string[];
}

/** The auth of a request that somebody has signed in for. */
export interface AuthenticatedContext<U extends BaseUser = User>
  extends AuthContext<U> {
  /** The session of the request. */
  readonly session: Session<U>;
  /** The user of the session. */
  getUser(): U;
}
