/**
 * The cache that a whole program shares, and its functions.
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
  type AsyncFunction,
  type CachedFunction,
  createCachedFunction,
} from "./cached_function.ts";
import type { CachedOptions, UnstableCacheOptions } from "./options.ts";
import type { RevalidateOptions, RevalidateResult } from "./revalidation.ts";
import { createHandler } from "./revalidation_handler.ts";

let current = createParts({});

/**
 * Replaces the cache that the functions of this module share, with everything
 * in it. Call it before the first request. Functions that were wrapped before
 * use the new cache.
 *
 * It doesn't close the previous cache, whose store may be in use elsewhere. Close
 * that one yourself if its store has connections.
 *
 * @param options Its store and limits.
 * @returns The cache. Call its `close()` when the program ends.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { cacheStats, configureCache } from "@quartet/kit/data";
 *
 * const cache = configureCache({ maxEntries: 50_000, maxBytes: 256 * 2 ** 20 });
 * console.assert(cacheStats().entries === 0);
 *
 * // When the server shuts down, if there is a store with connections.
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
 * await cached("answer", () => 42, { maxAge: 60 });
 * const { hits, misses, entries } = cacheStats();
 * console.assert(hits === 1 && misses === 1 && entries === 1);
 * ```
 */
export function cacheStats(): CacheStats {
  return current.cache.stats();
}

/**
 * Returns the value under a key, or calls `fn` and stores its result.
 *
 * One computation of a key runs at a time. Its error rejects all callers and
 * isn't stored. `undefined` and `null` are values. A value also belongs to the
 * path of the request that it was computed for, and to the tags, paths and keys
 * of the values that `fn` gets from this cache. Use a key for one function with
 * one set of options.
 *
 * @param key The key of the value.
 * @param fn Computes the value.
 * @param options Its lifetime, in seconds, its tags and its paths.
 * @returns The value, the same object for all callers unless `clone` is set.
 * @throws {TypeError} If an option is invalid, as a rejection.
 * @throws {CacheError} `TIMEOUT` if `fn` took too long, `RECURSION` if it waits
 * for its own result, as a rejection.
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
  return current.cache.cached(key, fn, options);
}

/**
 * Wraps a function so that its results are cached by its arguments.
 *
 * Arguments are compared by value, in any order of their properties: values as in
 * JSON, `undefined`, `bigint`, `Date`, `Map`, `Set`, bytes and typed arrays.
 * Functions, symbols and instances of other classes are refused. Other values
 * that the function uses aren't part of the key: name them in `keyParts`. Results
 * also belong to the tags, paths and keys of the values that the function gets
 * from this cache.
 *
 * Called as a method of a class's instance, the function gets its `this`, and
 * each instance has results of its own, in this process only. In any other call,
 * `this` is `undefined`, and all callers share the results.
 *
 * @param fn The function.
 * @param keyParts The name of the function, and whatever it depends on besides its
 * arguments. Functions with the same parts share results. A function without
 * parts shares with no other.
 * @param options The lifetime of results, in seconds. Default: an hour.
 * @returns The function, with `invalidate` and `key`. It rejects with a
 * `TypeError` if its arguments can't be part of a key, and with a `CacheError`
 * as {@linkcode cached} does.
 * @throws {TypeError} If a parameter or an option is invalid.
 *
 * @example
 * ```ts
 * import { unstable_cache } from "@quartet/kit/data";
 *
 * let calls = 0;
 * const square = unstable_cache(
 *   (n: number) => Promise.resolve(n * n + 0 * ++calls),
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
export function unstable_cache<F extends AsyncFunction>(
  fn: F,
  keyParts: readonly string[],
  options?: UnstableCacheOptions,
): CachedFunction<F> {
  return createCachedFunction(() => current, fn, keyParts, options);
}

/**
 * Invalidates everything with any of these tags. The cost doesn't depend on how
 * much that is.
 *
 * @param tags The tags.
 * @throws {TypeError} If one is not a string or empty, as a rejection.
 *
 * @example
 * ```ts
 * import { revalidateTag, tags } from "@quartet/kit/data";
 *
 * const { success, revalidated } = await revalidateTag(tags.resource("post", 1));
 * console.assert(success && revalidated.tags[0] === "post:1");
 * ```
 */
export function revalidateTag(...tags: string[]): Promise<RevalidateResult> {
  return current.cache.revalidateTag(...tags);
}

/**
 * Invalidates everything that belongs to these paths. `/posts/*` is every path
 * below `/posts`, at any depth, without `/posts` itself. `/*` is every path.
 * Query, fragment and trailing slashes don't matter.
 *
 * @param paths The paths.
 * @throws {TypeError} If one does not begin with `/`, as a rejection.
 *
 * @example
 * ```ts
 * import { revalidatePath } from "@quartet/kit/data";
 *
 * const { revalidated } = await revalidatePath("/posts", "/posts/*");
 * console.assert(revalidated.paths.length === 2);
 * ```
 */
export function revalidatePath(...paths: string[]): Promise<RevalidateResult> {
  return current.cache.revalidatePath(...paths);
}

/**
 * Invalidates tags and paths, or everything.
 *
 * @param options Tags and paths, or `all`.
 * @throws {TypeError} If an option is invalid, as a rejection.
 *
 * @example
 * ```ts
 * import { revalidate } from "@quartet/kit/data";
 *
 * await revalidate({ tags: ["post"], paths: ["/posts/*"] });
 * const { timestamp } = await revalidate({ all: true });
 * console.assert(timestamp <= Date.now());
 * ```
 */
export function revalidate(
  options: RevalidateOptions,
): Promise<RevalidateResult> {
  return current.cache.revalidate(options);
}

/**
 * Invalidates tags and paths. Names that begin with `/` are paths.
 *
 * @param tagsOrPaths The tags and paths.
 * @throws {TypeError} If one is not a string or empty, as a rejection.
 *
 * @example
 * ```ts
 * import { onDemandRevalidate } from "@quartet/kit/data";
 *
 * const { revalidated } = await onDemandRevalidate("post", "/posts");
 * console.assert(revalidated.tags[0] === "post");
 * console.assert(revalidated.paths[0] === "/posts");
 * ```
 */
export function onDemandRevalidate(
  ...tagsOrPaths: string[]
): Promise<RevalidateResult> {
  return current.cache.onDemandRevalidate(...tagsOrPaths);
}

/**
 * Creates the handler of a route through which another system invalidates. It
 * takes POST with JSON of at most 64 KiB, `{ tags?, paths?, all? }`. It answers
 * 200 with the {@linkcode RevalidateResult}, or an error with
 * `{ "error": { "code", "message" } }`: 400, 401, 405, 413, or 503 if not every
 * process could be informed.
 *
 * @param secret The secret that requests must send as `Authorization: Bearer …`.
 * Without one, anybody may call the route, and a warning says so.
 * @throws {TypeError} If the secret is empty.
 *
 * @example
 * ```ts
 * import { createRevalidationHandler } from "@quartet/kit/data";
 *
 * const handler = createRevalidationHandler("a secret");
 * const response = await handler(
 *   new Request("http://localhost/api/revalidate", {
 *     method: "POST",
 *     headers: {
 *       "authorization": "Bearer a secret",
 *       "content-type": "application/json",
 *     },
 *     body: JSON.stringify({ tags: ["post"] }),
 *   }),
 * );
 * console.assert(response.status === 200);
 * ```
 */
export function createRevalidationHandler(
  secret?: string,
): (request: Request) => Promise<Response> {
  return createHandler(revalidate, secret);
}

/**
 * Makes a middleware that keeps whole pages: answers to GET, by their address
 * and the request headers of `vary`, as a shared cache does (RFC 9111). It adds
 * `ETag`, `Age`, `Date` and `Cache-Control`, and answers conditional requests
 * with 304. POST, PUT, PATCH and DELETE that succeed invalidate their path.
 *
 * What sets a cookie, is `private`, `no-store` or `no-cache`, answers a request
 * with `Authorization` without saying `public`, `s-maxage` or `must-revalidate`
 * (section 3.5), has asked the auth plugin who is there, varies by what `vary`
 * doesn't name, or has more than 4 MiB is not kept, and goes to the one request
 * that it was made for. A page that finds out by itself who asks must say that
 * it is `private`: cookies alone are no sign of it.
 *
 * @param options How long pages are fresh, in seconds.
 * @throws {TypeError} If an option is not what it must be.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { cacheResponse } from "@quartet/kit/data";
 *
 * let calls = 0;
 * const app = createApp()
 *   .use(cacheResponse({ maxAge: 60, tags: ["pages"] }))
 *   .route({ path: "/", handler: () => new Response(`${++calls}`) });
 *
 * const get = () => app.fetch(new Request("http://localhost/"));
 * await get();
 * const response = await get();
 * console.assert(await response.text() === "1");
 * console.assert(response.headers.get("cache-control") === "public, max-age=60");
 * ```
 */
export function cacheResponse(
  options: CacheResponseOptions,
): Middleware<RequestContext> {
  return createResponseCache(() => current, options);
}
