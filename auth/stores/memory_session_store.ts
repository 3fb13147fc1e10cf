/**
 * Sessions in the memory of this process.
 *
 * ```
 *   entries: Map   id ──▶ entry
 *   users:   Map   user's id ──▶ Set of entries
 *   recency:       newest ⇄ entry ⇄ entry ⇄ … ⇄ oldest
 * ```
 *
 * There is no timer. Sessions that are over gather at the old end of the list,
 * since nobody uses them, and are dropped from there as new ones come.
 *
 * @module
 */

import { checkOptions } from "../../core/check/check_options.ts";
import type { OptionRules } from "../../core/check/check_options.ts";
import { LRUList } from "../../core/collections/lru_list.ts";
import type { LRUEntry } from "../../core/collections/lru_list.ts";
import { kindOf } from "../../core/check/show.ts";
import { sortRecords, writeRecord } from "./record_text.ts";
import type { SessionRecord, SessionStore } from "./session_store.ts";

/** How many sessions a memory store holds. */
export interface MemorySessionStoreOptions {
  /** How many at most; beyond, the longest unused gives way. Default 10,000. */
  readonly maxSessions?: number;
  /**
   * How many of one user at most; beyond, the longest unused of this user gives
   * way. Well below `maxSessions`, nobody can crowd out the others by signing in
   * again and again. Default 100, or half of `maxSessions` if that is less.
   */
  readonly maxSessionsPerUser?: number;
  /** Where the time is read, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<MemorySessionStoreOptions> = {
  maxSessions: true,
  maxSessionsPerUser: true,
  now: true,
};

/** A {@linkcode SessionStore} whose methods return at once. */
export interface MemorySessionStore extends SessionStore {
  /** How many sessions it holds, also such as are over and not dropped yet. */
  readonly size: number;
  /** The session of this id, if it is kept and not expired. It is frozen. */
  get(id: string): SessionRecord | undefined;
  /** Keeps a new session until its `expiresAt`. */
  set(record: SessionRecord): void;
  /** Keeps a record in place of the one of the same id and user, if any. */
  touch(record: SessionRecord): boolean;
  /** Drops a session. */
  delete(id: string): void;
  /** Drops all sessions that a user has now, and gives their number. */
  deleteByUser(userId: string): number;
  /** The sessions of a user that are not expired, the oldest first. */
  listByUser(userId: string): readonly SessionRecord[];
}

/**
 * Makes a store in the memory of this process. It forgets with the process, and
 * other processes don't know of it.
 *
 * @param options How many sessions it holds.
 * @throws {TypeError} If a limit is not a positive integer, or an option is
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
  for (
    const [name, limit] of Object.entries({ maxSessions, maxSessionsPerUser })
  ) {
    if (Number.isSafeInteger(limit) && limit > 0) continue;
    throw new TypeError(
      `Cannot create session store: ${name} must be a positive integer, received ${
        typeof limit === "number" ? limit : kindOf(limit)
      }`,
    );
  }
  return new Store(maxSessions, maxSessionsPerUser, now);
}

class Entry implements LRUEntry<Entry> {
  newer: Entry | undefined = undefined;
  older: Entry | undefined = undefined;
  /** Counts up with each use of the store: when this entry was last used. */
  used = 0;
  record: SessionRecord;

  constructor(record: SessionRecord) {
    this.record = record;
  }
}

class Store implements MemorySessionStore {
  readonly #maxSessions: number;
  readonly #maxPerUser: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #users = new Map<string, Set<Entry>>();
  readonly #recency = new LRUList<Entry>();
  #uses = 0;

  constructor(maxSessions: number, maxPerUser: number, now: () => number) {
    this.#maxSessions = maxSessions;
    this.#maxPerUser = maxPerUser;
    this.#now = now;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): SessionRecord | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (entry.record.expiresAt <= this.#now()) {
      this.#drop(entry);
      return undefined;
    }
    this.#recency.use(entry);
    entry.used = ++this.#uses;
    return entry.record;
  }

  set(record: SessionRecord): void {
    const entry = new Entry(copyOf(record));
    const { id, userId } = entry.record;
    this.delete(id);
    this.#makeRoom(userId);
    this.#entries.set(id, entry);
    const ofUser = this.#users.get(userId);
    if (ofUser === undefined) this.#users.set(userId, new Set([entry]));
    else ofUser.add(entry);
    this.#recency.add(entry);
    entry.used = ++this.#uses;
  }

  touch(record: SessionRecord): boolean {
    const kept = this.get(record.id);
    if (kept === undefined || kept.userId !== record.userId) return false;
    this.#entries.get(record.id)!.record = copyOf(record);
    return true;
  }

  delete(id: string): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined) this.#drop(entry);
  }

  deleteByUser(userId: string): number {
    const count = this.listByUser(userId).length;
    for (const entry of this.#users.get(userId) ?? []) this.#drop(entry);
    return count;
  }

  listByUser(userId: string): readonly SessionRecord[] {
    const time = this.#now();
    const records: SessionRecord[] = [];
    for (const { record } of this.#users.get(userId) ?? []) {
      if (record.expiresAt > time) records.push(record);
    }
    return sortRecords(records);
  }

  /** Lets go of what has to give way to another session of this user. */
  #makeRoom(userId: string): void {
    const time = this.#now();
    let oldest: Entry | undefined;
    while ((oldest = this.#recency.oldest) && isOver(oldest, time)) {
      this.#drop(oldest);
    }
    const ofUser = this.#users.get(userId);
    if (ofUser !== undefined && ofUser.size >= this.#maxPerUser) {
      let idlest: Entry | undefined;
      for (const entry of ofUser) {
        if (isOver(entry, time)) this.#drop(entry);
        else if (idlest === undefined || entry.used < idlest.used) {
          idlest = entry;
        }
      }
      if (ofUser.size >= this.#maxPerUser) this.#drop(idlest!);
    }
    if (this.#entries.size >= this.#maxSessions) {
      this.#drop(this.#recency.oldest!);
    }
  }

  #drop(entry: Entry): void {
    const { id, userId } = entry.record;
    this.#entries.delete(id);
    this.#recency.delete(entry);
    const ofUser = this.#users.get(userId)!;
    ofUser.delete(entry);
    if (ofUser.size === 0) this.#users.delete(userId);
  }
}

function isOver({ record }: Entry, time: number): boolean {
  return record.expiresAt <= time;
}

/** A copy that nobody can change, so that it can be given to everybody. */
function copyOf(record: SessionRecord): SessionRecord {
  return deepFreeze(JSON.parse(writeRecord(record)) as SessionRecord);
}

function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) {
    for (const item of Object.values(value)) deepFreeze(item);
    Object.freeze(value);
  }
  return value;
}
