/** What every user has, whatever else an application keeps of one. */
export interface BaseUser {
  /** The user's id; never empty. */
  id: string;
  /** An e-mail address that the user has proved to own. */
  email?: string | undefined;
  /** A name for people to read. */
  name?: string | undefined;
  /** The roles that guards ask for. */
  roles?: string[] | undefined;
}

/**
 * A user, as providers give it: the fields of {@linkcode BaseUser} and any
 * others. What JSON carries of the others is kept in `session.claims`, but for
 * keys that look like secrets, such as `passwordHash` and `accessToken`.
 */
export interface User extends BaseUser {
  /** Anything else that the application wants to know of a user. */
  [key: string]: unknown;
}

/**
 * Who is signed in, since when and until when. Each request gets an object of
 * its own: to change it changes nothing for anybody else.
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
   * When it ends, unless it is refreshed before. A date that is to be changed
   * has to be copied: this one throws.
   */
  expiresAt?: Date | undefined;
  /** Names the session among all others; stays the same when refreshed. */
  sessionId?: string | undefined;
  /** When it was begun, or last refreshed. To be copied as well. */
  issuedAt?: Date | undefined;
  /** The id of the provider that has authenticated the user. */
  provider?: string | undefined;
}
