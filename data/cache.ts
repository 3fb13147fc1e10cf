import type { RequestContext } from "../core/context.ts";
import { checkOptions, type OptionRules } from "../core/check/check_options.ts";
import { readDuration } from "../core/check/duration.ts";
import { printableError } from "../core/redact/printable.ts";
import { show } from "../core/check/show.ts";
import { reportError } from "../core/report_error.ts";
import type { Middleware } from "../core/middleware.ts";
import {
  type CacheResponseOptions,
  createResponseCache,
} from "./cache_response.ts";
import {
  type AsyncFunction,
  type CacheAccess,
  type CachedFunction,
  createCachedFunction,
} from "./cached_function.ts";
import { Engine } from "./engine.ts";
import {
  MEMORY_STORE,
  MemoryStore,
  type MemoryStoreOptions,
  readLimits,
} from "./memory_store.ts";
import {
  CACHED,
  type CachedOptions,
  lifetime,
  readPolicy,
  type UnstableCacheOptions,
} from "./options.ts";
import {
  readScopes,
  type RevalidateOptions,
  type RevalidateResult,
} from "./revalidation.ts";
import { createHandler } from "./revalidation_handler.ts";
import type { CacheScopes } from "./scope_table.ts";
import type { CacheStore } from "./store.ts";
import { type ErrorListener, StoreGuard } from "./store_guard.ts";

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
  store: true,
  storeTimeout: true,
  onError: true,
  now: true,
  random: true,
};

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

/** Makes a cache and gives what is inside as well. */
export function createParts(options: CacheOptions): CacheParts {
  checkOptions(options, CACHE, "create cache");
  if (options.store !== undefined) refuseLimits(options);
  const {
    store = new MemoryStore(readLimits(options, "create memory store")),
    storeTimeout = 1,
    onError = logError,
    now = Date.now,
    random = Math.random,
  } = options;
  const timeout = readDuration(storeTimeout, "storeTimeout", "create cache", {
    unit: "seconds",
    endless: true,
  });
  const report: ErrorListener = (error, operation) =>
    reportError(onError, error, operation);
  const guard = new StoreGuard(store, report, timeout);
  const engine = new Engine(guard, { now, random }, report);
  const access = { engine, invalidate, now };

  async function invalidate(
    scopes: CacheScopes,
    { tags = [], paths = [] }: RevalidateOptions = {},
  ): Promise<RevalidateResult> {
    const timestamp = now();
    const success = await guard.invalidate(scopes);
    return {
      success,
      revalidated: { tags: [...tags], paths: [...paths] },
      timestamp,
    };
  }

  /** `async`, so that what can't be invalidated is a rejection. */
  async function revalidate(
    options: RevalidateOptions,
  ): Promise<RevalidateResult> {
    return await invalidate(readScopes(options), options);
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

/** Refuses limits together with a store, because the store has its own. */
function refuseLimits(options: CacheOptions): void {
  for (const name of Object.keys(MEMORY_STORE) as (keyof CacheOptions)[]) {
    if (options[name] === undefined) continue;
    throw new TypeError(
      `Cannot create cache: ${name} must be absent with a store, received ${
        show(options[name])
      }; give it to the store`,
    );
  }
}

/** Calls through a cache by key. See `cached`. */
export function callCached<T>(
  engine: Engine,
  key: string,
  fn: () => T | Promise<T>,
  options: CachedOptions,
): Promise<T> {
  try {
    const place = typeof key === "string" ? storeKey(key) : "";
    // A hit looks at nothing that it doesn't need; a miss looks at everything.
    if (place !== "" && options?.maxAge !== 0 && options?.clone !== true) {
      const hit = engine.hit(place);
      if (hit !== undefined) return hit as Promise<T>;
    }
    const operation = "call through the cache";
    if (typeof key !== "string") {
      throw new TypeError(
        `Cannot ${operation}: key must be a string, received ${show(key)}`,
      );
    }
    if (typeof fn !== "function") {
      throw new TypeError(
        `Cannot ${operation}: fn must be a function, received ${show(fn)}`,
      );
    }
    if (Object.hasOwn(Object(options), "revalidate")) {
      throw new TypeError(
        `Cannot ${operation}: the lifetime of cached() is called maxAge, received revalidate`,
      );
    }
    checkOptions(options, CACHED, operation);
    const policy = readPolicy(options, ["maxAge", options.maxAge], operation);
    const call = { key: place, scopeKey: place, policy, compute: fn, lifetime };
    return (policy.maxAge === 0
      ? engine.pass(call)
      : engine.call(call)) as Promise<T>;
  } catch (error) {
    return Promise.reject(error);
  }
}

/** Keys of calls with arguments begin with `[`, those of pages with `{`. */
function storeKey(key: string): string {
  const first = key.charCodeAt(0);
  return first === 91 || first === 123 || first === 0 || first !== first
    ? `\0${key}`
    : key;
}

function logError(error: unknown, operation: string): void {
  console.error("The cache could not %s:", operation, printableError(error));
}
