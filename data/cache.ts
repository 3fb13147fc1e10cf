import type { RequestContext } from "../core/context.ts";
import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../core/check/check_options.ts";
import { aFunction, aTimeout, rule, withMethods } from "../core/check/rules.ts";
import type { Middleware } from "../core/middleware.ts";
import { printableError } from "../core/redact/printable.ts";
import { reportError } from "../core/report_error.ts";
import {
  type CacheResponseOptions,
  createResponseCache,
} from "./cache_response.ts";
import {
  type AsyncFunction,
  type CacheAccess,
  type CachedFunction,
  callCached,
  createCachedFunction,
} from "./cached_function.ts";
import { Engine } from "./engine.ts";
import type { Invalidation } from "./invalidation_log.ts";
import {
  MEMORY_STORE,
  MemoryStore,
  type MemoryStoreOptions,
} from "./memory_store.ts";
import type { CachedOptions, UnstableCacheOptions } from "./options.ts";
import {
  readInvalidation,
  type RevalidateOptions,
  type RevalidateResult,
} from "./revalidation.ts";
import { createHandler } from "./revalidation_handler.ts";
import type { CacheStore } from "./store.ts";
import { type ErrorListener, StoreGuard } from "./store_guard.ts";
import { toDelay } from "./timeouts.ts";

/** Settings of a cache. */
export interface CacheOptions extends MemoryStoreOptions {
  /**
   * Where records are kept, such as `createRedisStore` of
   * `@quartet/kit/data/redis` or `createKvStore` of `@quartet/kit/data/kv`. It
   * has its own limits, so the cache's limits must be absent. Default: the
   * memory of this process, with these limits.
   */
  readonly store?: CacheStore;
  /**
   * How long a store may take to answer, in seconds. Then the function is
   * called as if nothing had been kept. At most 24 days; `Infinity`: as long as
   * it likes. Default 1.
   */
  readonly storeTimeout?: number;
  /**
   * Gets what failed behind the callers' backs: the store, once per outage; a
   * computation that nobody waits for; a value that can't be shared, as a
   * `CacheError` with code `NOT_DATA`. Nothing waits for it, and what it throws
   * itself is printed. Default: `console.error`.
   */
  readonly onError?: (error: unknown, operation: string) => void;
  /** Where the time is read, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
  /** Draws from 0 to 1, without 1. Default: `Math.random`. */
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

/** How a cache has fared since it was made. */
export interface CacheStats {
  /** Calls that were given a fresh value. */
  readonly hits: number;
  /** Calls that were given an expired value. */
  readonly staleHits: number;
  /** Calls that had to wait for a computation, failed ones included. */
  readonly misses: number;
  /** Records that gave way to others. */
  readonly evictions: number;
  /** Records in memory. */
  readonly entries: number;
  /** What they take, in bytes, estimated. */
  readonly bytes: number;
}

/** A cache: what the functions of the module do, with records of its own. */
export interface Cache extends AsyncDisposable {
  /** As the function {@linkcode cached} of the module. */
  cached<T>(
    key: string,
    fn: () => T | Promise<T>,
    options: CachedOptions,
  ): Promise<T>;
  /** As the function {@linkcode unstable_cache} of the module. */
  unstable_cache<F extends AsyncFunction>(
    fn: F,
    keyParts: readonly string[],
    options?: UnstableCacheOptions,
  ): CachedFunction<F>;
  /** As the function {@linkcode revalidateTag} of the module. */
  revalidateTag(...tags: string[]): Promise<RevalidateResult>;
  /** As the function {@linkcode revalidatePath} of the module. */
  revalidatePath(...paths: string[]): Promise<RevalidateResult>;
  /** As the function {@linkcode revalidate} of the module. */
  revalidate(options: RevalidateOptions): Promise<RevalidateResult>;
  /** As the function {@linkcode onDemandRevalidate} of the module. */
  onDemandRevalidate(...tagsOrPaths: string[]): Promise<RevalidateResult>;
  /** As the function {@linkcode createRevalidationHandler} of the module. */
  createRevalidationHandler(
    secret?: string,
  ): (request: Request) => Promise<Response>;
  /** As the function {@linkcode cacheResponse} of the module. */
  cacheResponse(options: CacheResponseOptions): Middleware<RequestContext>;
  /** As the function {@linkcode cacheStats} of the module. */
  stats(): CacheStats;
  /**
   * Waits for what is still being kept, and closes the store's connections, if
   * it has any. `await using` does it at the end of the block.
   */
  close(): Promise<void>;
}

/** What the module's own functions need of a cache. */
export interface CacheParts extends CacheAccess {
  readonly cache: Cache;
}

/**
 * Makes a cache of one's own, beside the one that the functions of the module
 * share.
 *
 * @param options Where it keeps its records, and how many.
 * @throws {TypeError} If a limit is not a positive number, the store's time not
 * one of seconds, or an option is unknown.
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

/** Creates a cache, and returns its parts too. */
export function createParts(options: CacheOptions): CacheParts {
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
  const engine = new Engine({ store: guard, now, random, onError: report });
  const access = { engine, invalidate, now };

  async function invalidate(
    what: Invalidation,
    { tags = [], paths = [] }: RevalidateOptions = {},
  ): Promise<RevalidateResult> {
    const timestamp = now();
    const success = await guard.invalidate(what);
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

  const cache: Cache = {
    cached: (key, fn, options) => callCached(engine, key, fn, options),
    unstable_cache: (fn, keyParts, options) =>
      createCachedFunction(() => access, fn, keyParts, options),
    revalidateTag: (...tags) => revalidate({ tags }),
    revalidatePath: (...paths) => revalidate({ paths }),
    revalidate,
    onDemandRevalidate: (...tagsOrPaths) =>
      revalidate(Object.groupBy(
        tagsOrPaths,
        (name) => String(name).startsWith("/") ? "paths" : "tags",
      )),
    createRevalidationHandler: (secret) => createHandler(revalidate, secret),
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
