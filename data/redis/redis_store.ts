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
import { aTimeout, required, withMethods } from "../../core/check/rules.ts";
import type { MemoryStoreOptions } from "../memory_store.ts";
import { SHARED_STORE, SharedStore } from "../shared/shared_store.ts";
import type { CacheStore } from "../store.ts";
import { toDelay } from "../../core/runtime/timeouts.ts";
import { RedisBackend } from "./redis_backend.ts";
import type { CacheRedisClient } from "./redis_client.ts";

export type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
export type { CacheRecord } from "../store.ts";
export type { CacheRedisClient, CacheStore, MemoryStoreOptions };

/** Options of a store in Redis. The limits apply to the memory in front. */
export interface RedisStoreOptions extends MemoryStoreOptions {
  /**
   * A client of `npm:redis`. It stays the caller's, who need not connect it:
   * the store makes two connections of its own with the same settings, when it
   * is first used, and makes them anew itself when they break.
   */
  readonly client: CacheRedisClient;
  /**
   * The start of the store's keys in Redis. Stores of the same name share
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

const REDIS_STORE: OptionRules<RedisStoreOptions> = {
  ...SHARED_STORE,
  client: required(withMethods("one of npm:redis", "duplicate")),
  timeout: aTimeout("seconds"),
};

/** A store in Redis. */
export interface RedisStore extends CacheStore, AsyncDisposable {
  /** Closes the connections. The cache's `close()` does it as well. */
  close(): Promise<void>;
}

/**
 * Creates a store in Redis, with the memory of this process in front.
 *
 * A hit in memory costs no round trip. An invalidation is known to the other
 * processes about as soon as Redis has it, and one computation runs at a time
 * among all processes. Values must be data: values as in JSON, `undefined`,
 * `bigint`, `Date`, `Map`, `Set`, `RegExp`, `URL`, bytes and typed arrays. One
 * that isn't is kept in memory only, and the cache's `onError` hears of it.
 *
 * While Redis is away, each process goes on with its memory and its own
 * invalidations. When it is back, they first exchange what they have
 * missed. If Redis was restarted meanwhile, or replaced, it may have lost
 * something, so everything from before is invalid.
 *
 * @param options The client, and how much to keep.
 * @throws {TypeError} If an option is invalid or unknown.
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
  checkOptions(options, REDIS_STORE, "create Redis store");
  const { client, name = "cache", lockTime = 10, timeout = 2 } = options;
  return new SharedStore(options, (store) =>
    new RedisBackend(store, {
      client,
      name,
      lockTime: toDelay(lockTime),
      timeout: toDelay(timeout),
    }));
}
