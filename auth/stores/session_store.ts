import type { JWTPayload } from "../tokens/jwt.ts";

/**
 * The record of a session in a store. It is JSON, of at most 16,384 characters
 * in the kit's stores. Records that a store returns may be frozen.
 */
export interface SessionRecord {
  /** The session's id: 43 characters of base64url. Never reused. */
  readonly id: string;
  /** The user's id. */
  readonly userId: string;
  /** The claims of the session. */
  readonly payload: JWTPayload;
  /** The time of the sign-in, in milliseconds since the Unix epoch. */
  readonly createdAt: number;
  /** The time of the last refresh, in milliseconds. At first, `createdAt`. */
  readonly refreshedAt: number;
  /** The time until which it is kept, in milliseconds since the Unix epoch. */
  readonly expiresAt: number;
}

/**
 * A store of sessions, which can be revoked.
 *
 * The plugin checks expiry and owner of each record itself. Methods may return
 * a value or a promise. If one throws, the request gets 503, because a session
 * that can't be looked up isn't valid. `session.fallback` can change that. The
 * plugin logs the first error of each outage, except for an `UnavailableError`:
 * a store that throws these logs its outages itself.
 */
export interface SessionStore {
  /** Returns the session of this id, if it is kept and not expired. */
  get(
    id: string,
  ): SessionRecord | undefined | Promise<SessionRecord | undefined>;
  /** Keeps a new session until its `expiresAt`. */
  set(record: SessionRecord): void | Promise<void>;
  /**
   * Replaces the record of the same id and user in one step, if there still is
   * one. Otherwise a refresh could revive a revoked session.
   *
   * Keep a record with a later `refreshedAt`. Otherwise a slow refresh could give
   * back roles that a later one has taken away.
   *
   * @returns Whether it was replaced. Without this method, the plugin calls `get`
   * and `set`.
   */
  touch?(record: SessionRecord): boolean | Promise<boolean>;
  /** Drops a session. */
  delete(id: string): void | Promise<void>;
  /**
   * Drops all sessions that a user has now.
   *
   * @returns The number of sessions.
   */
  deleteByUser(userId: string): number | Promise<number>;
  /** Returns the sessions of a user that aren't expired, oldest first. */
  listByUser(
    userId: string,
  ): readonly SessionRecord[] | Promise<readonly SessionRecord[]>;
  /**
   * Calls `listener` when sessions end or change in any process: by
   * `delete`, `deleteByUser` or `touch`, also if the store drops a session to
   * make room. Expiry needs no call. Without this method, the plugin asks for
   * the watched sessions twice a second.
   *
   * @param listener Called with the ids of the sessions. It never throws, and may
   * call methods of the store. `undefined` means that some may have been missed.
   * A store calls it so after each loss of its connection, and once it has begun
   * to listen, unless it does so at once.
   * @returns A function that stops the calls.
   */
  onEnded?(
    listener: (ids: readonly string[] | undefined) => void,
  ): () => void;
  /** Rejects or throws if the store can't be reached. */
  ping?(): void | Promise<void>;
  /** Closes what the store has opened itself. */
  close?(): void | Promise<void>;
}
