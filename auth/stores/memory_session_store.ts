/**
 * Sessions in the memory of this process.
 *
 * ```
 *   entries: Map   id ──▶ entry
 *   users:   Map   user's id ──▶ Set of entries
 *   recency:       newest ⇄ entry ⇄ entry ⇄ … ⇄ oldest
 * ```
 *
 * No timer is needed. Expired sessions aren't used, so they move to the old end
 * of the list, where new sessions drop them.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aFunction, aPositiveInteger } from "../../core/check/rules.ts";
import { type LRUEntry, LRUList } from "../../core/collections/lru_list.ts";
import { isReplaceable, sortRecords, writeRecord } from "./record_text.ts";
import type { SessionRecord, SessionStore } from "./session_store.ts";

/** Settings of a memory store. */
export interface MemorySessionStoreOptions {
  /**
   * Maximum sessions. Beyond that, the least recently used is dropped. Default
   * 10,000.
   */
  readonly maxSessions?: number;
  /**
   * Maximum sessions of one user. Beyond that, the user's least recently used is
   * dropped. Keep it well below `maxSessions`, so that one user can't displace
   * the others. Default 100, or half of `maxSessions` if that is less.
   */
  readonly maxSessionsPerUser?: number;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<MemorySessionStoreOptions> = {
  maxSessions: aPositiveInteger,
  maxSessionsPerUser: aPositiveInteger,
  now: aFunction,
};

/** A {@linkcode SessionStore} whose methods return at once. */
export interface MemorySessionStore extends SessionStore {
  /** The number of sessions, with expired ones that aren't dropped yet. */
  readonly size: number;
  /** The session of this id, if it is kept and not expired. It is frozen. */
  get(id: string): SessionRecord | undefined;
  /** Keeps a new session until its `expiresAt`. */
  set(record: SessionRecord): void;
  /**
   * Keeps a record in place of the one of the same id and user, if any, unless
   * that was refreshed later.
   */
  touch(record: SessionRecord): boolean;
  /** Drops a session. */
  delete(id: string): void;
  /** Drops all sessions of a user, and returns their number. */
  deleteByUser(userId: string): number;
  /** The sessions of a user that are not expired, the oldest first. */
  listByUser(userId: string): readonly SessionRecord[];
  /** Calls `listener` at once when sessions end or change. */
  onEnded(listener: (ids: readonly string[] | undefined) => void): () => void;
}

interface Entry extends LRUEntry<Entry> {
  record: SessionRecord;
  /** The number of the store's use that used this entry last. */
  used: number;
}

/**
 * Creates a store in the memory of this process. Its sessions end with the
 * process, and other processes don't see them.
 *
 * @param options The limits.
 * @throws {TypeError} If a limit isn't a positive integer, or an option is
 * unknown.
 *
 * @example
 * ```ts
 * import { createAuthPlugin, createMemorySessionStore } from "@quartet/kit/auth";
 *
 * const store = createMemorySessionStore({ maxSessions: 100_000 });
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store,
 *   },
 * });
 *
 * console.assert(await auth.revokeSessions("ada") === 0);
 * console.assert(store.size === 0);
 * ```
 */
export function createMemorySessionStore(
  options: MemorySessionStoreOptions = {},
): MemorySessionStore {
  checkOptions(options, OPTIONS, "create session store");
  const { maxSessions = 10_000, now = Date.now } = options;
  const { maxSessionsPerUser = Math.ceil(Math.min(100, maxSessions / 2)) } =
    options;
  const entries = new Map<string, Entry>();
  const users = new Map<string, Set<Entry>>();
  const recency = new LRUList<Entry>();
  const listeners = new Set<(ids: readonly string[]) => void>();
  let uses = 0;

  /** Called last, because a listener may call methods of the store. */
  function notify(ids: readonly string[]): void {
    if (ids.length === 0) return;
    for (const listener of listeners) listener(ids);
  }

  function drop(entry: Entry): string {
    const { id, userId } = entry.record;
    entries.delete(id);
    recency.delete(entry);
    const ofUser = users.get(userId)!;
    ofUser.delete(entry);
    if (ofUser.size === 0) users.delete(userId);
    return id;
  }

  /**
   * Makes room for another session of this user.
   *
   * @returns The ids of sessions that weren't expired.
   */
  function makeRoom(userId: string): string[] {
    const time = now();
    const ended: string[] = [];
    let oldest: Entry | undefined;
    while ((oldest = recency.oldest) && isOver(oldest, time)) drop(oldest);
    const ofUser = users.get(userId);
    if (ofUser !== undefined && ofUser.size >= maxSessionsPerUser) {
      let leastRecent: Entry | undefined;
      for (const entry of ofUser) {
        if (isOver(entry, time)) drop(entry);
        else if (leastRecent === undefined || entry.used < leastRecent.used) {
          leastRecent = entry;
        }
      }
      if (ofUser.size >= maxSessionsPerUser) ended.push(drop(leastRecent!));
    }
    if (entries.size >= maxSessions) ended.push(drop(recency.oldest!));
    return ended;
  }

  const store: MemorySessionStore = {
    get size() {
      return entries.size;
    },

    get(id) {
      const entry = entries.get(id);
      if (entry === undefined) return undefined;
      if (isOver(entry, now())) {
        drop(entry);
        return undefined;
      }
      recency.use(entry);
      entry.used = ++uses;
      return entry.record;
    },

    set(given) {
      const record = copyOf(given);
      const { id, userId } = record;
      const old = entries.get(id);
      if (old !== undefined) drop(old);
      const ended = makeRoom(userId);
      if (old !== undefined) ended.push(id);
      const entry: Entry = {
        record,
        used: ++uses,
        newer: undefined,
        older: undefined,
      };
      entries.set(id, entry);
      const ofUser = users.get(userId);
      if (ofUser === undefined) users.set(userId, new Set([entry]));
      else ofUser.add(entry);
      recency.add(entry);
      notify(ended);
    },

    touch(record) {
      const kept = store.get(record.id);
      if (!isReplaceable(kept, record)) return false;
      entries.get(record.id)!.record = copyOf(record);
      notify([record.id]);
      return true;
    },

    delete(id) {
      const entry = entries.get(id);
      if (entry !== undefined) notify([drop(entry)]);
    },

    deleteByUser(userId) {
      const count = store.listByUser(userId).length;
      notify(Array.from(users.get(userId) ?? [], drop));
      return count;
    },

    listByUser(userId) {
      const time = now();
      return sortRecords(
        [...users.get(userId) ?? []].filter((entry) => !isOver(entry, time))
          .map(({ record }) => record),
      );
    },

    onEnded(listener) {
      // A function of its own, so that a listener can be added twice.
      const own = (ids: readonly string[]) => listener(ids);
      listeners.add(own);
      return () => void listeners.delete(own);
    },
  };
  return store;
}

function isOver({ record }: Entry, time: number): boolean {
  return record.expiresAt <= time;
}

/** Returns a frozen copy, which all callers can share. */
function copyOf(record: SessionRecord): SessionRecord {
  // Called for each value, the inner ones first.
  const freeze = (_key: string, value: unknown) => Object.freeze(value);
  return JSON.parse(writeRecord(record), freeze);
}
