/** The fields of every user. */
export interface BaseUser {
  /** The user's id; never empty. */
  id: string;
  /** An e-mail address that the user has proved to own. */
  email?: string | undefined;
  /** A name for people to read. */
  name?: string | undefined;
  /** The roles that guards check. */
  roles?: string[] | undefined;
}

/**
 * A user of a provider: the fields of {@linkcode BaseUser} and any others.
 * `session.claims` keeps the others as JSON. Keys that look like secrets are
 * left out, such as `passwordHash` and `accessToken`.
 */
export interface User extends BaseUser {
  /** Any other field of the application. */
  [key: string]: unknown;
}

/**
 * The session of a signed-in user. Each request gets a copy, so changing it
 * affects no other request.
 */
export interface Session<U extends BaseUser = User> {
  /** The user's id. */
  userId: string;
  /** The user's e-mail address. */
  email?: string | undefined;
  /** The user's name. */
  name?: string | undefined;
  /** The user's roles. */
  roles?: string[] | undefined;
  /** The user's other fields, or the custom claims of the `jwt` callback. */
  claims?:
    | { [K in keyof U as K extends keyof BaseUser ? never : K]?: U[K] }
    | undefined;
  /**
   * The time at which it ends, unless it is refreshed before. To change the
   * date, copy it: this one throws.
   */
  expiresAt?: Date | undefined;
  /** The session's id. A refresh doesn't change it. */
  sessionId?: string | undefined;
  /** The time of the sign-in or the last refresh. Copy it to change it. */
  issuedAt?: Date | undefined;
  /** The id of the provider that authenticated the user. */
  provider?: string | undefined;
}
