/**
 * A cache for data and whole pages. Invalidate its entries by tag, by path, or all
 * at once. Concurrent calls share one computation, and memory is bounded.
 *
 * @example Cache a function, then invalidate its results
 * ```ts
 * import { cacheFunction, revalidateTag, tags } from "@quartet/kit/data";
 *
 * const names = new Map([[1, "Ada"]]);
 * const findName = cacheFunction(
 *   (id: number) => names.get(id),
 *   ["name"],
 *   // Results are up to 60 seconds old.
 *   { tags: [tags.collection("user")], revalidate: 60 },
 * );
 *
 * console.assert(await findName(1) === "Ada");
 * names.set(1, "Grace");
 * console.assert(await findName(1) === "Ada");
 * await revalidateTag("user");
 * console.assert(await findName(1) === "Grace");
 * ```
 *
 * @module
 */

export type { ConnectionInfo, RequestContext } from "../core/context.ts";
export type { Middleware, Next } from "../core/middleware.ts";
export type { CacheResponseOptions } from "./cache_response.ts";
export {
  type Cache,
  type CacheOptions,
  type CacheStats,
  createCache,
} from "./cache.ts";
export type { CacheableFunction, CachedFunction } from "./cached_function.ts";
export {
  cached,
  cacheFunction,
  cacheResponse,
  cacheStats,
  configureCache,
  unstable_cache,
} from "./default_cache.ts";
export * from "./default_invalidation.ts";
export { CacheError, type CacheErrorCode } from "./error.ts";
export type { Invalidation, InvalidationLog } from "./invalidation_log.ts";
export { createMemoryStore, type MemoryStoreOptions } from "./memory_store.ts";
export type {
  CachedOptions,
  CacheFunctionOptions,
  FreshnessOptions,
  UnstableCacheOptions,
} from "./options.ts";
export type { RevalidateOptions, RevalidateResult } from "./revalidation.ts";
export type { CacheRecord, CacheStore, Claim, Lock } from "./store.ts";
export { type Tags, tags } from "./tags.ts";
