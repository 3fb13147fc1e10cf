import type { RequestContext } from "../core/context.ts";
import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../core/check/options.ts";
import { aFunction, aTimeout, rule, withMethods } from "../core/check/rules.ts";
import type { Middleware } from "../core/middleware.ts";
import { printableError, reportError } from "../core/redact/printable.ts";
import { observe } from "../core/observe.ts";
import { cacheObserver } from "./cache_observer.ts";
import {
  type CacheResponseOptions,
  createResponseCache,
} from "./cache_response.ts";
import {
  type CacheableFunction,
  type CachedFunction,
  callCached,
  createCachedFunction,
} from "./cached_function.ts";
import { createEngine } from "./engine.ts";
import type { Invalidation } from "./invalidation_log.ts";
import {
  MEMORY_STORE,
  MemoryStore,
  type MemoryStoreOptions,
} from "./memory_store.ts";
import type { CachedOptions, CacheFunctionOptions } from "./options.ts";
import {
  groupNames,
  readInvalidation,
  type RevalidateOptions,
  type RevalidateResult,
} from "./revalidation.ts";
import { createHandler } from "./revalidation_handler.ts";
import type { CacheStore } from "./store.ts";
import { type ErrorListener, StoreGuard } from "./store_guard.ts";
import { toDelay } from "../core/promises.ts";

/** Settings of a cache. */
export interface CacheOptions extends MemoryStoreOptions {
  /**
   * The store, from `createRedisStore()` in `@quartet/kit/data/redis` or
   * `createKvStore()` in `@quartet/kit/data/kv`. It takes the limits itself, so
   * they must be absent here. Default: the memory of this process.
   */
  readonly store?: CacheStore;
  /**
   * How long to wait for the store, in seconds, at most 24 days, or `Infinity`.
   * After that, the function is called as if nothing were stored. Default: 1.
   */
  readonly storeTimeout?: number;
  /**
   * Called with errors that no caller sees:
   *
   * - an error of the store, once per outage
   * - an error of a background refresh
   * - a `CacheError` with code `NOT_DATA` if a value can't be shared
   *
   * The cache doesn't wait for it, and logs its errors. Default: `console.error`.
   */
  readonly onError?: (error: unknown, operation: string) => void;
  /** The clock, in milliseconds of the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number;
  /** Returns a random number in [0, 1). Default: `Math.random`. */
  readonly random?: () => number;
}

const CACHE: OptionRules<CacheOptions> = {
  ...MEMORY_STORE,
  store: withMethods("a cache store", "peek", "set", "invalidate"),
  storeTimeout: aTimeout("seconds", { endless: true }),
  onError: aFunction,
  now: aFunction,
  random: aFunction,
};

const absent = rule("absent with a store", (value) => value === undefined);

/** Counters of a cache since its creation, and its current size. */
export interface CacheStats {
  /** Calls that got a fresh value. */
  readonly hits: number;
  /** Calls that got a stale value. */
  readonly staleHits: number;
  /** Calls that waited for a computation, including failed ones. */
  readonly misses: number;
  /** Records evicted from memory. */
  readonly evictions: number;
  /** Records in memory. */
  readonly entries: number;
  /** Their estimated size, in bytes. */
  readonly bytes: number;
}

/** A separate cache, with the functions of the module as methods. */
export interface Cache extends AsyncDisposable {
  /** See {@linkcode cached}. */
  cached<T>(
    key: string,
    fn: () => T | Promise<T>,
    options: CachedOptions,
  ): Promise<T>;
  /** See {@linkcode cacheFunction}. */
  cacheFunction<F extends CacheableFunction>(
    fn: F,
    keyParts?: readonly string[],
    options?: CacheFunctionOptions,
  ): CachedFunction<F>;
  /** {@linkcode cacheFunction} under the name that Next.js uses. */
  readonly unstable_cache: Cache["cacheFunction"];
  /** See {@linkcode revalidateTag}. */
  revalidateTag(...tags: string[]): Promise<RevalidateResult>;
  /** See {@linkcode revalidatePath}. */
  revalidatePath(...paths: string[]): Promise<RevalidateResult>;
  /** See {@linkcode revalidate}. */
  revalidate(options: RevalidateOptions): Promise<RevalidateResult>;
  /** See {@linkcode onDemandRevalidate}. */
  onDemandRevalidate(...tagsOrPaths: string[]): Promise<RevalidateResult>;
  /** See {@linkcode createRevalidationHandler}. */
  createRevalidationHandler(
    secret?: string,
  ): (request: Request) => Promise<Response>;
  /** See {@linkcode cacheResponse}. */
  cacheResponse(options: CacheResponseOptions): Middleware<RequestContext>;
  /** See {@linkcode cacheStats}. */
  stats(): CacheStats;
  /**
   * Waits until refreshes in the background have ended and all values are stored,
   * then closes the store's connections. Refreshes have 10 seconds, or until the
   * deadline of the shutdown that it's part of.
   */
  close(): Promise<void>;
}

/**
 * Creates a cache, separate from the one that the functions of the module share.
 *
 * @param options The store, or the limits of the memory.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { createCache } from "@quartet/kit/data";
 *
 * const cache = createCache({ maxEntries: 1_000 });
 * const load = () => cache.cached("answer", () => 42, { maxAge: 60 });
 *
 * console.assert(await load() + await load() === 84);
 * console.assert(cache.stats().hits === 1);
 * ```
 */
export function createCache(options: CacheOptions = {}): Cache {
  return createParts(options).cache;
}

/** Creates a cache and returns it with its parts. */
export function createParts(options: CacheOptions) {
  const operation = "create cache";
  checkOptions(options, CACHE, operation);
  if (options.store !== undefined) {
    for (const name of Object.keys(MEMORY_STORE) as (keyof CacheOptions)[]) {
      checkValue(options[name], name, absent, operation);
    }
  }
  const {
    store = new MemoryStore(options),
    storeTimeout = 1,
    onError = logError,
    now = Date.now,
    random = Math.random,
  } = options;
  const report: ErrorListener = (error, operation) =>
    reportError(onError, error, operation);
  const guard = new StoreGuard(store, report, toDelay(storeTimeout));
  const parts = { store: guard, now, random, onError: report };
  const engine = createEngine(parts);
  const access = { engine, invalidate, now };

  async function invalidate(
    what: Invalidation,
    { tags = [], paths = [] }: RevalidateOptions = {},
  ): Promise<RevalidateResult> {
    const timestamp = now();
    const run = () => guard.invalidate(what);
    const success = await observe(
      "cache.invalidate",
      "data",
      (span) => cacheObserver()?.invalidate(parts, what, span, run) ?? run(),
    );
    return {
      success,
      revalidated: { tags: [...tags], paths: [...paths] },
      timestamp,
    };
  }

  /** `async`, so that invalid options are a rejection. */
  async function revalidate(
    options: RevalidateOptions,
  ): Promise<RevalidateResult> {
    return await invalidate(readInvalidation(options), options);
  }

  const cacheFunction: Cache["cacheFunction"] = (fn, keyParts, options) =>
    createCachedFunction(() => access, fn, keyParts, options);

  const cache: Cache = {
    cached: (key, fn, options) => callCached(engine, key, fn, options),
    cacheFunction,
    unstable_cache: cacheFunction,
    revalidateTag: (...tags) => revalidate({ tags }),
    revalidatePath: (...paths) => revalidate({ paths }),
    revalidate,
    onDemandRevalidate: (...tagsOrPaths) => revalidate(groupNames(tagsOrPaths)),
    createRevalidationHandler: (...secret) => createHandler(revalidate, secret),
    cacheResponse: (options) => createResponseCache(() => access, options),
    stats: () => ({
      hits: engine.counts.hit,
      staleHits: engine.counts.stale,
      misses: engine.counts.miss,
      evictions: store.evictions,
      entries: store.entries,
      bytes: store.bytes,
    }),
    close: () => guard.close(),
    [Symbol.asyncDispose]: () => guard.close(),
  };
  return { cache, ...access };
}

function logError(error: unknown, operation: string): void {
  console.error("The cache could not %s:", operation, printableError(error));
}
