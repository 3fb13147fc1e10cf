/**
 * Sessions in Redis. Needs Redis 5 or later and a client of `npm:redis`.
 *
 * ```
 *   <prefix>id:<id>            the record, as text, as long as it is valid
 *   <prefix>user:<user's id>   sorted set: the ids, by when they expire
 * ```
 *
 * @module
 */

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import {
  aFunction,
  aString,
  required,
  withMethods,
} from "../../core/check/rules.ts";
import { keyPart } from "../key_part.ts";
import {
  readRecord,
  sortRecords,
  timeLeft,
  writeRecord,
} from "./record_text.ts";
import type { SessionRecord, SessionStore } from "./session_store.ts";

export type { JWTPayload } from "../tokens/jwt.ts";
export type { SessionRecord, SessionStore };

/**
 * The part of a client of `npm:redis`, version 4 or later, that the store uses.
 */
export interface SessionRedisClient {
  /** The command GET. */
  get(key: string): Promise<unknown>;
  /** The command ZRANGE. */
  zRange(key: string, start: number, stop: number): Promise<unknown>;
  /** The command EVAL. */
  eval(
    script: string,
    options: { keys: string[]; arguments: string[] },
  ): Promise<unknown>;
}

/** Settings of a session store in Redis. */
export interface RedisSessionStoreOptions {
  /**
   * A client of `npm:redis`. Unlike the cache, the session store doesn't
   * connect or close it. Call `connect()` yourself.
   */
  readonly client: SessionRedisClient;
  /** The prefix of all keys. Default `session:`. */
  readonly prefix?: string;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<RedisSessionStoreOptions> = {
  client: required(withMethods("one of npm:redis", "eval")),
  prefix: aString,
  now: aFunction,
};

// KEYS: record, user. ARGV: text, time left, id. By the clock of Redis, which
// is the same for all processes. A process with a fast clock would otherwise
// drop ids of sessions that must be revocable.
const KEEP = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local left = tonumber(ARGV[2])
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
redis.call("ZREMRANGEBYSCORE", KEYS[2], "-inf", now)
redis.call("ZADD", KEYS[2], now + left, ARGV[3])
if redis.call("PTTL", KEYS[2]) < left then
  redis.call("PEXPIRE", KEYS[2], ARGV[2])
end
return 1`;

// The same, if there is such a session of this user.
const KEEP_IF_KNOWN = `
if redis.call("EXISTS", KEYS[1]) == 0 then return 0 end
if not redis.call("ZSCORE", KEYS[2], ARGV[3]) then return 0 end
${KEEP}`;

// KEYS: user, records. ARGV: ids.
const DROP = `
for i = 2, #KEYS do redis.call("DEL", KEYS[i]) end
for i = 1, #ARGV do redis.call("ZREM", KEYS[1], ARGV[i]) end`;

/**
 * Maximum sessions that one script drops. Redis does nothing else meanwhile.
 */
const BATCH = 500;

/**
 * Creates a store in Redis, which any number of processes share. Scripts make
 * each change in one step. If Redis can't be reached, calls of the store
 * reject, and the request fails: a session that can't be looked up isn't valid.
 *
 * Redis must not evict (`maxmemory-policy noeviction`, the default): if it drops
 * the list of a user's sessions and keeps the sessions, they can't be revoked.
 *
 * In a cluster all keys have to be on one shard: put a hash tag into the prefix,
 * as in `{session}:`.
 *
 * @param options The client and the prefix of keys.
 * @throws {TypeError} If `client` isn't a client, or an option is unknown.
 *
 * @example
 * ```ts
 * import { createAuthPlugin } from "@quartet/kit/auth";
 * import { createRedisSessionStore } from "@quartet/kit/auth/redis";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * client.on("error", console.error);
 * // At the start of the server: await client.connect();
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createRedisSessionStore({ client }),
 *   },
 * });
 *
 * console.assert(auth.name === "auth");
 * ```
 */
export function createRedisSessionStore(
  options: RedisSessionStoreOptions,
): SessionStore {
  checkOptions(options, OPTIONS, "create session store");
  const { client, prefix = "session:", now = Date.now } = options;
  const recordKey = (part: string) => `${prefix}id:${part}`;
  const userKey = (userId: string) => `${prefix}user:${keyPart(userId)}`;
  const isValid = (record?: SessionRecord): record is SessionRecord =>
    record !== undefined && record.expiresAt > now();

  /** Returns the record under a key, even if it has expired by this clock. */
  async function read(part: string): Promise<SessionRecord | undefined> {
    return readRecord(await client.get(recordKey(part)), part);
  }

  async function get(id: string): Promise<SessionRecord | undefined> {
    const record = await read(keyPart(id));
    return isValid(record) ? record : undefined;
  }

  async function keep(script: string, record: SessionRecord): Promise<boolean> {
    const text = writeRecord(record);
    const part = keyPart(record.id);
    const reply = await client.eval(script, {
      keys: [recordKey(part), userKey(record.userId)],
      arguments: [text, `${timeLeft(record, now())}`, part],
    });
    return reply === 1;
  }

  /**
   * Returns all noted sessions of a user. The client pipelines the requests.
   */
  async function entriesOf(
    userId: string,
  ): Promise<{ part: string; record: SessionRecord | undefined }[]> {
    const parts = await client.zRange(userKey(userId), 0, -1) as string[];
    return await Promise.all(
      parts.map(async (part) => ({ part, record: await read(part) })),
    );
  }

  return {
    get,

    async set(record) {
      await keep(KEEP, record);
    },

    async touch(record) {
      const kept = await get(record.id);
      return kept?.userId === record.userId &&
        await keep(KEEP_IF_KNOWN, record);
    },

    async delete(id) {
      const part = keyPart(id);
      const record = await read(part);
      if (record === undefined) return;
      const keys = [userKey(record.userId), recordKey(part)];
      await client.eval(DROP, { keys, arguments: [part] });
    },

    async deleteByUser(userId) {
      const entries = await entriesOf(userId);
      let count = 0;
      for (let i = 0; i < entries.length; i += BATCH) {
        const keys = [userKey(userId)];
        const parts: string[] = [];
        for (const { part, record } of entries.slice(i, i + BATCH)) {
          parts.push(part);
          // The id may have another user by now. Then only the note is dropped.
          if (record?.userId !== userId) continue;
          keys.push(recordKey(part));
          if (isValid(record)) count++;
        }
        await client.eval(DROP, { keys, arguments: parts });
      }
      return count;
    },

    async listByUser(userId) {
      const entries = await entriesOf(userId);
      const records = entries.map(({ record }) => record).filter(isValid);
      return sortRecords(records.filter((record) => record.userId === userId));
    },
  };
}
