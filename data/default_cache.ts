/**
 * The cache that all of a program shares, and the functions on it.
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
 * The one before is not closed, because its store may be in use elsewhere: who
 * had given it a store with connections closes it, by what this gave then.
 *
 * @param options Where it keeps its records, and how many.
 * @returns The cache, for when the program ends: its `close()` closes the store.
 * @throws {TypeError} If a limit is not a positive number.
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
 * How the shared cache has fared.
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
 * Gives what is kept under a key, or calls `fn` and keeps what it gives.
 *
 * However many callers there are, one computation runs at a time; an error
 * reaches all of them and is not kept. `undefined` and `null` are values. What
 * is called while a request is handled belongs to the request's path as well,
 * and what `fn` gets from this cache makes the value belong to its tags, paths
 * and keys too. One key belongs to one function with one set of options.
 *
 * @param key Names the value.
 * @param fn Computes the value.
 * @param options How long it is fresh, in seconds, and what it belongs to.
 * @returns The value, the same object for all callers unless `clone` is set.
 * @throws {TypeError} If an option is not what it must be, as a rejection.
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
 * Wraps a function so that its results are kept, by its arguments.
 *
 * Equal arguments are the same call, in whatever order their properties are:
 * values as in JSON, `undefined`, `bigint`, `Date`, `Map`, `Set`, bytes and
 * typed arrays. What holds a function, a symbol or an instance of a class is
 * refused. Other values that the function uses aren't part of the key: name them
 * in `keyParts`. What it gets from this cache makes its results belong to the
 * tags, paths and keys of that too.
 *
 * Called as a method of a class's instance, the function gets its `this`, and
 * each instance has results of its own, in this process only. In any other call,
 * `this` is `undefined`, and all callers share the results.
 *
 * @param fn The function.
 * @param keyParts Names the function, and whatever it depends on beside its
 * arguments. Functions with the same parts share their results; with none, a
 * function shares them with no other.
 * @param options How long results are fresh, in seconds; an hour by default.
 * @returns The function, with `invalidate` and `key`. It rejects with a
 * `TypeError` if its arguments can't be part of a key, and with a `CacheError`
 * as {@linkcode cached} does.
 * @throws {TypeError} If something given is not what it must be.
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
 * Invalidates everything under any of these tags, at the same cost however much
 * that is.
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
 * Invalidates what belongs to these paths. `/posts/*` is everything below
 * `/posts`, at any depth, and not `/posts` itself; `/*` is every path. Query,
 * fragment and trailing slashes don't matter.
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
 * @param options What to invalidate.
 * @throws {TypeError} If it is not what it must be, as a rejection.
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
 * Invalidates tags and paths: what begins with `/` is a path, all else a tag.
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
 * Makes the handler of a route by which another system invalidates: POST, JSON
 * of at most 64 KiB, `{ tags?, paths?, all? }`. It answers 200 with the
 * {@linkcode RevalidateResult}; 400, 401, 405, 413, or 503 if not every process
 * could be told, with `{ "error": { "code", "message" } }`.
 *
 * @param secret What the request must bring as `Authorization: Bearer …`.
 * Without one, anybody may call it, and a warning says so.
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
