import type { JWTPayload } from "../tokens/jwt.ts";

/**
 * A session, as a store keeps it. All of it is JSON, of at most 16,384
 * characters in the stores of the kit. What a store gives may be frozen.
 */
export interface SessionRecord {
  /** The session's id: 43 characters of base64url. Made once, never again. */
  readonly id: string;
  /** Whose session it is. */
  readonly userId: string;
  /** What the session is built from. */
  readonly payload: JWTPayload;
  /** When the user has signed in, in milliseconds of the Unix epoch. */
  readonly createdAt: number;
  /** When the session was last refreshed; at first, `createdAt`. */
  readonly refreshedAt: number;
  /** Until when it is kept, in milliseconds of the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * Where sessions are kept that can be revoked.
 *
 * A store gives what it was given, or nothing: whether a session is expired or
 * belongs to whoever shows it is checked by the plugin, whatever the store says.
 * Methods may return at once or promise; what they throw fails the request that
 * has asked, since a session that can't be looked up is not valid.
 */
export interface SessionStore {
  /** The session of this id, if it is kept and not expired. */
  get(
    id: string,
  ): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  /** Keeps a new session until its `expiresAt`. */
  set(record: SessionRecord): void | Promise<void>;
  /**
   * Keeps a record in place of the one of the same id and user, if there still
   * is one, in one step: otherwise a refresh could bring back what was revoked.
   *
   * @returns Whether there was one. Without this method a store is asked with
   * `get` and told with `set`.
   */
  touch?(record: SessionRecord): boolean | Promise<boolean>;
  /** Drops a session. */
  delete(id: string): void | Promise<void>;
  /**
   * Drops all sessions that a user has now.
   *
   * @returns How many there were.
   */
  deleteByUser(userId: string): number | Promise<number>;
  /** The sessions of a user that are not expired, the oldest first. */
  listByUser(
    userId: string,
  ): readonly SessionRecord[] | Promise<readonly SessionRecord[]>;
  /** Lets go of what the store has opened itself. */
  close?(): void | Promise<void>;
}
