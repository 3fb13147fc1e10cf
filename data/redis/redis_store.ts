/**
 * A cache store in Redis, shared by all machines. Each process keeps recent values
 * in memory, so most hits need no round trip. The store needs Redis 5 or later,
 * and `npm:redis` or `npm:ioredis`.
 *
 * @example A cache in Redis
 * ```ts
 * import { cacheFunction, configureCache, revalidateTag } from "@quartet/kit/data";
 * import { createRedisStore } from "@quartet/kit/data/redis";
 * import { createClient } from "redis";
 *
 * // The store opens its own connections at its first use.
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * configureCache({ store: createRedisStore({ client, name: "shop" }) });
 *
 * const listPosts = cacheFunction(
 *   () => ["hello"],
 *   ["posts"],
 *   { tags: ["post"], revalidate: 60 },
 * );
 * // Call it after each change of a post.
 * const published = () => revalidateTag("post");
 *
 * console.assert(typeof listPosts === "function");
 * console.assert(typeof published === "function");
 * ```
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aTimeout, required } from "../../core/check/rules.ts";
import {
  aRedisClient,
  aRedisName,
  type RedisClient,
} from "../../core/redis/client.ts";
import { toDelay } from "../../core/promises.ts";
import type { MemoryStoreOptions } from "../memory_store.ts";
import {
  readSettings,
  SHARED_STORE,
  type SharedStoreOptions,
} from "../shared/shared_options.ts";
import { SharedStore } from "../shared/shared_store.ts";
import type { CacheStore } from "../store.ts";
import { createRedisBackend } from "./redis_backend.ts";

export type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
export type { CacheRecord, Claim, Lock } from "../store.ts";
export type { CacheStore, MemoryStoreOptions, RedisClient, SharedStoreOptions };

/** Options of a store in Redis. */
export interface RedisStoreOptions extends SharedStoreOptions {
  /**
   * A client of `npm:redis` 5 or 6 or of `npm:ioredis`, also for Sentinel or a
   * cluster. At its first use, the store opens two connections of its own with the
   * client's settings. It replaces them when they break. You needn't connect the
   * client, unless it comes from `createSentinel()` of `npm:redis` 5.
   */
  readonly client: RedisClient;
  /**
   * How long Redis may take to answer, in seconds, at most 24 days. After that,
   * the connections are replaced. Default: 1.
   */
  readonly timeout?: number;
}

const REDIS_STORE: OptionRules<RedisStoreOptions> = {
  ...SHARED_STORE,
  client: required(aRedisClient),
  name: required(aRedisName),
  timeout: aTimeout("seconds"),
};

/** A store in Redis. */
export interface RedisStore extends CacheStore, AsyncDisposable {
  /** Rejects if Redis can't be reached. The cache works without it. */
  ping(): Promise<void>;
  /** Closes the connections. The cache's `close()` also does this. */
  close(): Promise<void>;
}

/**
 * Creates a store in Redis, with the memory of this process in front.
 *
 * A hit in memory takes no round trip. Other processes learn of an invalidation
 * within milliseconds, and one computation of a key runs at a time among all of
 * them.
 *
 * Values must be data: JSON values, `undefined`, `bigint`, `Date`, `Map`, `Set`,
 * `RegExp`, `URL`, bytes and typed arrays. Other values stay in memory, and the
 * cache's `onError` is called.
 *
 * While Redis is away, each process keeps using its memory and its own
 * invalidations for `maxStaleness`. After that, it computes, and keeps values for
 * no longer than that. When Redis is back, the processes first exchange the
 * invalidations that they missed. If Redis was restarted or replaced, it may have
 * lost some, so all earlier values are invalid.
 *
 * All keys of a store have one hash tag, `{name}`, so a cluster keeps each store
 * on one shard.
 *
 * @param options The client, the name of the cache, and its limits.
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
  const { client, maxStaleness = 3, timeout = 1 } = options;
  // Often enough that one late answer doesn't matter.
  const interval = Math.min(timeout / 2, maxStaleness / 3);
  const settings = readSettings(options);
  return new SharedStore(
    options,
    toDelay(interval),
    (exchange) =>
      createRedisBackend(exchange, client, toDelay(timeout), settings),
  );
}
