/**
 * Sessions in Deno KV: in a file on one machine, or distributed.
 *
 * ```
 *   [...prefix, "id", id]              the record, as text
 *   [...prefix, "user", userId, id]    that the user has, or had, this session
 *   [...prefix, "ended", …]            what has ended lately
 * ```
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aTimeout,
  required,
  rule,
  withMethods,
} from "../../core/check/rules.ts";
import { keyPart } from "../../core/key_part.ts";
import { limitKv } from "../../core/runtime/kv_limits.ts";
import { toDelay } from "../../core/promises.ts";
import type { KvDatabase, KvKey, KvTransaction } from "./kv_database.ts";
import { createKvEndings } from "./kv_endings.ts";
import {
  isReplaceable,
  readRecord,
  sortRecords,
  timeLeft,
  writeRecord,
} from "./record_text.ts";
import type { SessionRecord, SessionStore } from "./session_store.ts";

export type { JWTPayload } from "../tokens/jwt.ts";
export type { KvDatabase, KvKey, KvTransaction };
export type { SessionRecord, SessionStore };

/** Settings of a session store in Deno KV. */
export interface KvSessionStoreOptions {
  /** The database. The store never closes it. */
  readonly kv: KvDatabase;
  /** The prefix of all keys. Default `["sessions"]`. */
  readonly prefix?: KvKey;
  /**
   * The time between two looks at which sessions other processes have ended, in
   * seconds, 24 days at most. The store looks only while something listens, such
   * as an open subscription. Default 0.25.
   */
  readonly interval?: number;
  /**
   * How long the database may take for a read or a write, in seconds, 24 days at
   * most. Then the call rejects with an `UnavailableError`. Processes that share a
   * file write one after the other. Default 5.
   */
  readonly timeout?: number;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<KvSessionStoreOptions> = {
  kv: required(withMethods("a database from Deno.openKv()", "atomic")),
  prefix: rule("a key of Deno KV", Array.isArray),
  interval: aTimeout("seconds"),
  timeout: aTimeout("seconds"),
  now: aFunction,
};

/** How many entries are read or deleted at a time. */
const BATCH = 32;

/**
 * Creates a store in Deno KV. Sessions outlast the process, and all processes
 * that open the same database share them.
 *
 * KV deletes expired sessions some time later. Until then the store doesn't
 * return them.
 *
 * @param options The database and the prefix of keys.
 * @throws {TypeError} If `kv` isn't a database, or an option is unknown.
 *
 * @example
 * ```ts
 * import { createAuthPlugin } from "@quartet/kit/auth";
 * import { createKvSessionStore } from "@quartet/kit/auth/kv";
 *
 * using kv = await Deno.openKv(":memory:");
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createKvSessionStore({ kv }),
 *   },
 * });
 *
 * console.assert(await auth.revokeSessions("ada") === 0);
 * ```
 */
export function createKvSessionStore(
  options: KvSessionStoreOptions,
): SessionStore {
  checkOptions(options, OPTIONS, "create session store");
  const { kv, prefix = ["sessions"], interval = 0.25, timeout = 5 } = options;
  const { now = Date.now } = options;
  const { inTime, commit } = limitKv("session store", timeout);
  const endings = createKvEndings(kv, prefix, toDelay(interval), now);
  const recordKey = (part: string): KvKey => [...prefix, "id", part];
  const userKey = (id: string): KvKey => [...prefix, "user", keyPart(id)];
  const isValid = (record?: SessionRecord): record is SessionRecord =>
    record !== undefined && record.expiresAt > now();

  /** Returns the record under a key, even if it has expired, and its version. */
  async function read(part: string): Promise<
    { record: SessionRecord | undefined; versionstamp: string | null }
  > {
    const { value, versionstamp } = await inTime(kv.get(recordKey(part)));
    return { record: readRecord(value, part), versionstamp };
  }

  function keep(record: SessionRecord): KvTransaction {
    const text = writeRecord(record);
    const part = keyPart(record.id);
    const options = { expireIn: timeLeft(record, now()) };
    return kv.atomic()
      .set(recordKey(part), text, options)
      .set([...userKey(record.userId), part], 1, options);
  }

  /**
   * Deletes a session of this user in any version. A concurrent refresh either
   * came before, or finds nothing.
   *
   * @returns The record, if there was one.
   */
  async function drop(
    part: string,
    userId: string,
  ): Promise<SessionRecord | undefined> {
    const { record } = await read(part);
    const transaction = kv.atomic().delete([...userKey(userId), part]);
    // The id may have another user by now. Then only the note is dropped.
    const isTheirs = record !== undefined && record.userId !== userId;
    if (!isTheirs) transaction.delete(recordKey(part));
    if (record?.userId === userId) endings.note(transaction, record.id);
    await commit(transaction);
    return isTheirs ? undefined : record;
  }

  /** Calls `work` with each session that a user has, or had. */
  async function eachOf<T>(
    userId: string,
    work: (part: string) => Promise<T>,
  ): Promise<T[]> {
    const results: T[] = [];
    let batch: Promise<T>[] = [];
    const entries = kv.list({ prefix: userKey(userId) })
      [Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await inTime(entries.next());
      if (done) break;
      batch.push(work(value.key.at(-1) as string));
      if (batch.length < BATCH) continue;
      results.push(...await Promise.all(batch));
      batch = [];
    }
    return [...results, ...await Promise.all(batch)];
  }

  return {
    async get(id) {
      const { record } = await read(keyPart(id));
      return isValid(record) ? record : undefined;
    },

    async set(record) {
      await commit(keep(record));
    },

    async touch(record) {
      const part = keyPart(record.id);
      for (;;) {
        const transaction = endings.note(keep(record), record.id);
        const { record: kept, versionstamp } = await read(part);
        if (!isValid(kept) || !isReplaceable(kept, record)) return false;
        transaction.check({ key: recordKey(part), versionstamp });
        if (await commit(transaction)) return true;
      }
    },

    async delete(id) {
      const part = keyPart(id);
      const { record } = await read(part);
      if (record !== undefined) await drop(part, record.userId);
    },

    async deleteByUser(userId) {
      const dropped = await eachOf(userId, (part) => drop(part, userId));
      return dropped.filter(isValid).length;
    },

    async listByUser(userId) {
      const found = await eachOf(userId, read);
      const records = found.map(({ record }) => record).filter(isValid);
      return sortRecords(records.filter((record) => record.userId === userId));
    },

    onEnded: (listener) => endings.listen(listener),

    async ping() {
      await inTime(kv.get(recordKey("")));
    },
  };
}
