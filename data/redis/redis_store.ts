/**
 * A store that several machines share, in Redis. Needs Redis 5 or later and a
 * client of `npm:redis`.
 *
 * @module
 */

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { readDuration } from "../../core/check/duration.ts";
import { show } from "../../core/check/show.ts";
import {
  MEMORY_STORE,
  MemoryStore,
  type MemoryStoreOptions,
  readLimits,
} from "../memory_store.ts";
import type { CacheScopes, Dated, ScopeTable } from "../scope_table.ts";
import { SharedStore } from "../shared/shared_store.ts";
import type { CacheRecord, CacheStore, ReleaseLock } from "../store.ts";
import { channelOf, metaOf, RedisBackend } from "./redis_backend.ts";
import type { CacheRedisClient } from "./redis_client.ts";
import { RedisLink } from "./redis_link.ts";
import { RedisLocks } from "./redis_locks.ts";

export type {
  CacheRecord,
  CacheRedisClient,
  CacheScopes,
  CacheStore,
  Dated,
  MemoryStoreOptions,
  ReleaseLock,
  ScopeTable,
};

/** Settings of a store in Redis. The limits are those of the memory in front. */
export interface RedisStoreOptions extends MemoryStoreOptions {
  /**
   * A client of `npm:redis`. It stays the caller's, who need not connect it:
   * the store makes two connections of its own with the same settings, when it
   * is first used, and makes them anew itself when they break.
   */
  readonly client: CacheRedisClient;
  /**
   * What the store's keys in Redis begin with. Stores of the same name share
   * their records. Default `cache`.
   */
  readonly name?: string;
  /**
   * How long one process may keep the others waiting that want the same value,
   * in seconds, 24 days at most; then they compute it themselves. Default 10.
   */
  readonly lockTime?: number;
  /**
   * How long Redis may take to answer, in seconds, 24 days at most. Then the
   * connections count as lost. Default 2.
   */
  readonly timeout?: number;
  /** Where the time is read, as in the cache. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<RedisStoreOptions> = {
  ...MEMORY_STORE,
  client: true,
  name: true,
  lockTime: true,
  timeout: true,
  now: true,
};

/** A store in Redis. */
export interface RedisStore extends CacheStore, AsyncDisposable {
  /** Closes the connections. The cache's `close()` does it as well. */
  close(): Promise<void>;
}

/**
 * Makes a store in Redis, with the memory of this process in front.
 *
 * What is in memory costs no round trip. An invalidation is known to the other
 * processes about as soon as Redis has it, and one computation runs at a time
 * among all processes. Values must be data: values as in JSON, `undefined`,
 * `bigint`, `Date`, `Map`, `Set`, `RegExp`, `URL`, bytes and typed arrays. One
 * that isn't is kept in memory only, and the cache's `onError` hears of it.
 *
 * While Redis is away, each process goes on with its memory and its own
 * invalidations. When it is back, they first tell each other what they have
 * missed. If Redis was restarted meanwhile, or replaced, it may have lost
 * something, so everything from before is invalid.
 *
 * @param options The client, and how much to keep.
 * @throws {TypeError} If an option is not what it must be.
 *
 * @example
 * ```ts
 * import { configureCache } from "@quartet/kit/data";
 * import { createRedisStore } from "@quartet/kit/data/redis";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * const store = createRedisStore({ client, name: "shop" });
 * configureCache({ store });
 * console.assert(store.entries === 0);
 * ```
 */
export function createRedisStore(options: RedisStoreOptions): RedisStore {
  const operation = "create Redis store";
  checkOptions(options, OPTIONS, operation);
  const {
    client,
    name = "cache",
    lockTime = 10,
    timeout = 2,
    now = Date.now,
  } = options;
  const limits = readLimits(options, operation);
  if (typeof name !== "string" || name === "") {
    throw new TypeError(
      `Cannot ${operation}: name must be a non-empty string, received ${
        show(name)
      }`,
    );
  }
  if (typeof client?.duplicate !== "function") {
    throw new TypeError(
      `Cannot ${operation}: client must be one of npm:redis, received ${
        show(client)
      }`,
    );
  }
  const seconds = { unit: "seconds" } as const;
  const lockMs = readDuration(lockTime, "lockTime", operation, seconds);
  const timeoutMs = readDuration(timeout, "timeout", operation, seconds);
  const channel = channelOf(name);

  return new SharedStore({
    memory: new MemoryStore(limits),
    maxLength: limits.maxEntryBytes,
    now,
    open(store) {
      const link = new RedisLink({
        client,
        channel,
        timeout: timeoutMs,
        onMessage(message) {
          // What can't be asked now is asked when there is a connection.
          if (!locks.hear(message)) store.sync().catch(() => {});
        },
        async onConnect(run) {
          const direct = new RedisBackend({ ...parts, run });
          await store.greet((since) => direct.hello(since), direct);
          await locks.releaseLeft(run);
        },
        onLost: () => locks.wakeAll(),
        onBeat: () => store.sync(),
      });
      const { run } = link;
      const locks = new RedisLocks({
        name,
        meta: metaOf(name),
        channel,
        lockTime: lockMs,
        run,
      });
      const parts = {
        name,
        maxScopes: limits.maxScopes,
        locks,
        run,
        close: () => link.close(),
      };
      return new RedisBackend(parts);
    },
  });
}
