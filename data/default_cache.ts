/**
 * The cache that a whole program shares, and the functions that cache in it.
 *
 * @module
 */

import type { RequestContext } from "../core/context.ts";
import type { Middleware } from "../core/middleware.ts";
import {
  type CacheResponseOptions,
  createResponseCache,
} from "./cache_response.ts";
import {
  type Cache,
  type CacheOptions,
  type CacheStats,
  createParts,
} from "./cache.ts";
import {
  type CacheableFunction,
  type CachedFunction,
  createCachedFunction,
} from "./cached_function.ts";
import type { CachedOptions, CacheFunctionOptions } from "./options.ts";

/** Created at its first use, because it takes a twelfth of the module's import. */
let current: ReturnType<typeof createParts> | undefined;
/** Read at import: a clock that a test replaces must not stay in the cache. */
const { now } = Date;

/** Returns the parts of the shared cache. */
export function currentCache() {
  return current ??= createParts({ now });
}

/**
 * Replaces the cache that the functions of this module share. Call it at startup,
 * before the first request. Cached functions that exist already use the new cache.
 * The previous cache isn't closed.
 *
 * @param options The store, or the limits of the memory.
 * @returns The cache. Call its `close()` when the program ends.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { cacheStats, configureCache } from "@quartet/kit/data";
 *
 * const cache = configureCache({ maxEntries: 50_000, maxBytes: 256 * 2 ** 20 });
 * console.assert(cacheStats().entries === 0);
 * await cache.close();
 * ```
 */
export function configureCache(options: CacheOptions = {}): Cache {
  current = createParts(options);
  return current.cache;
}

/**
 * Returns the counters and the size of the shared cache.
 *
 * @example
 * ```ts
 * import { cached, cacheStats, configureCache } from "@quartet/kit/data";
 *
 * configureCache({});
 * await cached("answer", () => 42, { maxAge: 60 });
 * console.assert(cacheStats().misses === 1);
 * ```
 */
export function cacheStats(): CacheStats {
  return currentCache().cache.stats();
}

/**
 * Returns the value under a key, or calls `fn` and stores its result.
 *
 * One computation of a key runs at a time. If it fails, all its callers get the
 * error, and nothing is stored. `undefined` and `null` are stored like other
 * values. A value also belongs to the path of the request that it was computed
 * for, and to the tags, paths and keys of the values that `fn` gets from this
 * cache. Use each key for one function with one set of options.
 *
 * @param key The key of the value.
 * @param fn Computes the value.
 * @param options Its lifetime, in seconds, its tags and its paths.
 * @returns The value, the same object for all callers unless `clone` is set.
 * @throws {TypeError} If an option is invalid, as a rejection.
 * @throws {CacheError} As a rejection: `TIMEOUT` if `fn` takes too long,
 * `RECURSION` if it waits for its own result, `PERSONAL` if it asks for the user,
 * `NOT_DATA` if only one caller could read its result, such as a `Response`.
 *
 * @example
 * ```ts
 * import { cached, revalidateTag } from "@quartet/kit/data";
 *
 * let calls = 0;
 * const load = () =>
 *   cached("posts", () => ++calls, { maxAge: 60, tags: ["post"] });
 *
 * console.assert(await load() === 1);
 * console.assert(await load() === 1);
 * await revalidateTag("post");
 * console.assert(await load() === 2);
 * ```
 */
export function cached<T>(
  key: string,
  fn: () => T | Promise<T>,
  options: CachedOptions,
): Promise<T> {
  return currentCache().cache.cached(key, fn, options);
}

/**
 * Wraps a function so that its results are cached by its arguments.
 *
 * Arguments are compared by value. They can be JSON values, `undefined`,
 * `bigint`, `Date`, `Map`, `Set`, bytes and typed arrays; the order of properties
 * doesn't matter. Variables that the function uses aren't part of the key: name
 * them in `keyParts`. A result also belongs to the tags, paths and keys of the
 * values that the function gets from this cache.
 *
 * Called as a method of a class instance, the function gets its `this`, and
 * each instance has its own results, in this process only. In any other call,
 * `this` is `undefined`, and all callers share the results.
 *
 * @param fn The function, synchronous or asynchronous.
 * @param keyParts The name of the function, and anything that it depends on
 * besides its arguments. Functions with the same parts share results. A function
 * without parts shares with no other function, and no other process.
 * @param options The lifetime of results, in seconds. Default: an hour.
 * @returns The function with the methods `invalidate` and `key`. It returns
 * promises. It rejects with a `TypeError` if its arguments can't be part of a
 * key, and with a `CacheError` as {@linkcode cached} does.
 * @throws {TypeError} If a parameter or an option is invalid.
 *
 * @example
 * ```ts
 * import { cacheFunction } from "@quartet/kit/data";
 *
 * let calls = 0;
 * const square = cacheFunction(
 *   (n: number) => n * n + 0 * ++calls,
 *   ["square"],
 *   { tags: ["numbers"], revalidate: 60 },
 * );
 *
 * console.assert(await square(3) === 9 && await square(3) === 9);
 * console.assert(calls === 1);
 * await square.invalidate(3);
 * console.assert(await square(3) === 9 && calls === 2);
 * ```
 */
export function cacheFunction<F extends CacheableFunction>(
  fn: F,
  keyParts?: readonly string[],
  options?: CacheFunctionOptions,
): CachedFunction<F> {
  return createCachedFunction(currentCache, fn, keyParts, options);
}

/**
 * {@linkcode cacheFunction} under the name that Next.js uses. Despite the name,
 * it is stable.
 *
 * @example
 * ```ts
 * import { unstable_cache } from "@quartet/kit/data";
 *
 * const getPost = unstable_cache(
 *   (id: number) => Promise.resolve({ id, title: "Hello" }),
 *   ["post"],
 *   { tags: ["post"], revalidate: 60 },
 * );
 * console.assert((await getPost(1)).title === "Hello");
 * ```
 */
export const unstable_cache: typeof cacheFunction = cacheFunction;

/**
 * Creates a middleware that caches responses to GET by URL and by the request
 * headers in `vary`, as a shared cache (RFC 9111). It adds `ETag`, `Age`, `Date`
 * and `Cache-Control`, and answers conditional requests with 304. A mutation that
 * succeeds invalidates its path.
 *
 * A response isn't stored if
 *
 * - it sets a cookie, or is `private`, `no-store` or `no-cache`
 * - it varies by another header, or has more than 4 MiB
 * - the auth plugin was asked for the user
 * - the request has a cookie that may affect it, see `ignoreCookies`
 * - the request has `Authorization`, and the response doesn't allow that
 *   (section 3.5)
 *
 * A page that recognizes its visitor in another way must be `private`.
 *
 * @param options The lifetime of pages, in seconds, and the headers and cookies
 * that they depend on.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { cacheResponse } from "@quartet/kit/data";
 *
 * const app = createApp()
 *   .use(cacheResponse({ maxAge: 60, tags: ["pages"] }))
 *   .route({ path: "/", handler: () => new Response("hello") });
 *
 * const { headers } = await app.fetch(new Request("http://localhost/"));
 * console.assert(headers.get("cache-control") === "public, max-age=60");
 * ```
 */
export function cacheResponse(
  options: CacheResponseOptions,
): Middleware<RequestContext> {
  return createResponseCache(currentCache, options);
}
