/**
 * Sessions in Redis. Needs Redis 5 or later, and a client of `npm:redis` or
 * `npm:ioredis`.
 *
 * ```
 *   {session}:id:<id>            a session, as long as it is valid:
 *                                when it expires, in milliseconds
 *                                the user's id
 *                                the record, as JSON
 *   {session}:user:<user's id>   sorted set: the ids, by when they expire
 *   {session}:ended              channel: JSON arrays of ids
 * ```
 *
 * Ids are as in JSON, so that each is on one line.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aFunction, aNonEmptyString } from "../../core/check/rules.ts";
import { aRedisName } from "../../core/redis/client.ts";
import { createRedisLink } from "../../core/redis/link.ts";
import { REDIS_OPTIONS, type RedisOptions } from "../../core/redis/options.ts";
import { keyPart } from "../../core/key_part.ts";
import { toDelay } from "../../core/promises.ts";
import {
  readRecord,
  sortRecords,
  timeLeft,
  writeRecord,
} from "./record_text.ts";
import { createSessionNotices } from "./redis_session_notices.ts";
import { DROP, DROP_ALL, KEEP, LIST } from "./redis_session_scripts.ts";
import type { SessionRecord, SessionStore } from "./session_store.ts";

export type { RedisClient } from "../../core/redis/client.ts";
export type { JWTPayload } from "../tokens/jwt.ts";
export type { SessionRecord, SessionStore };

/** Settings of a session store in Redis. */
export interface RedisSessionStoreOptions extends RedisOptions {
  /**
   * The name of the store. Processes with the same name share their sessions.
   * Applications on one Redis need different names. All keys begin with
   * `{name}:`. Default: `session`.
   */
  readonly name?: string;
  /**
   * The start of all keys, instead of `name`. If it has no hash tag, all of it
   * becomes one: `shop:` is written `{shop:}`. Default: none.
   */
  readonly prefix?: string;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<RedisSessionStoreOptions> = {
  ...REDIS_OPTIONS,
  name: aRedisName,
  prefix: aNonEmptyString,
  now: aFunction,
};

/** A {@linkcode SessionStore} in Redis. It connects at its first use. */
export interface RedisSessionStore extends SessionStore, AsyncDisposable {
  /** Calls `listener` when sessions end or change. */
  onEnded(
    listener: (ids: readonly string[] | undefined) => void,
  ): () => void;
  /** Rejects if Redis can't be reached. */
  ping(): Promise<void>;
  /** Closes the store's connections. Later calls reject. */
  close(): Promise<void>;
}

/** Maximum sessions that one script drops or reads. */
const BATCH = 500;

/**
 * Creates a store in Redis, which any number of processes share. Each operation
 * is one round trip and one step.
 *
 * No call waits longer than `timeout`. While Redis can't be reached, calls reject
 * with an `UnavailableError`, and the plugin answers 503. The store reconnects
 * by itself.
 *
 * Redis must not evict (`maxmemory-policy noeviction`, the default): if it drops
 * the list of a user's sessions and keeps the sessions, they can't be revoked.
 *
 * @param options The client and the name.
 * @throws {TypeError} If `client` isn't a supported client, or another option is
 * wrong or unknown.
 *
 * @example
 * ```ts
 * import { createAuthPlugin } from "@quartet/kit/auth";
 * import { createRedisSessionStore } from "@quartet/kit/auth/redis";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createRedisSessionStore({ client, name: "shop" }),
 *   },
 * });
 *
 * console.assert(auth.name === "auth");
 * ```
 */
export function createRedisSessionStore(
  options: RedisSessionStoreOptions,
): RedisSessionStore {
  checkOptions(options, OPTIONS, "create session store");
  const { client, onError, now = Date.now } = options;
  const base = baseOf(options);
  const sessionKey = (id: string) => `${base}id:${id}`;
  const listKey = (user: string) => `${base}user:${user}`;
  const connection = {
    client,
    what: "session store",
    timeout: toDelay(options.timeout ?? 1),
    key: base,
    onError,
  };
  const link = createRedisLink(connection);
  const notices = createSessionNotices(connection, link);
  const isValid = (record?: SessionRecord): record is SessionRecord =>
    record !== undefined && record.expiresAt > now();

  async function keep(record: SessionRecord, ...only: string[]) {
    const json = writeRecord(record);
    const id = toLine(record.id);
    const user = toLine(record.userId);
    const text = `${record.expiresAt}\n${user}\n${json}`;
    const left = `${timeLeft(record, now())}`;
    const args = [base, id, user, text, left, ...only];
    const reply = await link.run(KEEP, [sessionKey(id), listKey(user)], args);
    return reply === 1;
  }

  async function close(): Promise<void> {
    await notices.close();
    await link.close();
  }

  return {
    async get(id) {
      const key = sessionKey(toLine(id));
      const record = readText(await link.send(["GET", key], key), keyPart(id));
      return isValid(record) ? record : undefined;
    },

    async set(record) {
      await keep(record);
    },

    touch: (record) => keep(record, `${now()}`, `${record.refreshedAt}`),

    async delete(id) {
      const line = toLine(id);
      await link.run(DROP, [sessionKey(line)], [base, line]);
    },

    async deleteByUser(userId) {
      const user = toLine(userId);
      const args = [base, user, `${now()}`, `${BATCH}`];
      for (let total = 0;;) {
        const reply = await link.run(DROP_ALL, [listKey(user)], args);
        const [count, left] = reply as [number, number];
        total += count;
        if (left === 0) return total;
      }
    },

    async listByUser(userId) {
      const key = listKey(toLine(userId));
      const reply = await link.run(LIST, [key], [base, `${BATCH}`]);
      const [ids, texts] = reply as [string[], unknown[]];
      for (let i = BATCH; i < ids.length; i += BATCH) {
        const keys = ids.slice(i, i + BATCH).map(sessionKey);
        texts.push(...await link.send(["MGET", ...keys], key) as unknown[]);
      }
      const records = texts.map((text, i) => readText(text, fromLine(ids[i]!)))
        .filter(isValid);
      return sortRecords(records.filter((record) => record.userId === userId));
    },

    onEnded: (listener) => notices.add(listener),

    async ping() {
      await link.send(["PING"]);
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

/** A hash tag as Redis finds it: the text between the first braces. */
const HASH_TAG = /^[^{]*\{[^}]+\}/;

/** Returns the start of all keys. Its hash tag keeps them on one shard. */
function baseOf({ name, prefix }: RedisSessionStoreOptions): string {
  if (prefix === undefined) return `{${name ?? "session"}}:`;
  if (name === undefined) return HASH_TAG.test(prefix) ? prefix : `{${prefix}}`;
  throw new TypeError(
    "Cannot create session store: prefix must be absent if name is given, received both",
  );
}

/** Returns an id as it is in keys and lists. */
function toLine(id: string): string {
  return JSON.stringify(keyPart(id)).slice(1, -1);
}

/** Returns the key part of an id in a list. */
function fromLine(line: string): string {
  return line.includes("\\") ? JSON.parse(`"${line}"`) : line;
}

/** Reads the last line of a session. */
function readText(text: unknown, part: string): SessionRecord | undefined {
  return typeof text === "string"
    ? readRecord(text.slice(text.lastIndexOf("\n") + 1), part)
    : undefined;
}
