/**
 * A cache store in Deno KV, shared by the processes of one machine. Values survive
 * a restart, and each process keeps recent values in memory. `Deno.openKv()` needs
 * `"unstable": ["kv"]` in your `deno.json`, or the flag `--unstable-kv`.
 *
 * @example A cache in Deno KV
 * ```ts
 * import { createCache } from "@quartet/kit/data";
 * import { createKvStore } from "@quartet/kit/data/kv";
 *
 * // In production: a path that all processes open.
 * using kv = await Deno.openKv(":memory:");
 * const cache = createCache({ store: createKvStore({ kv, name: "shop" }) });
 *
 * const load = () => cache.cached("answer", () => 42, { maxAge: 60 });
 * console.assert(await load() === 42);
 * console.assert(await load() === 42);
 * console.assert(cache.stats().misses === 1);
 *
 * await cache.close();
 * ```
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aTimeout, required, withMethods } from "../../core/check/rules.ts";
import { toDelay } from "../../core/promises.ts";
import type { MemoryStoreOptions } from "../memory_store.ts";
import {
  readSettings,
  SHARED_STORE,
  type SharedStoreOptions,
} from "../shared/shared_options.ts";
import { SharedStore } from "../shared/shared_store.ts";
import type { CacheStore } from "../store.ts";
import type { Kv } from "./kv.ts";
import { createKvBackend } from "./kv_backend.ts";

export type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
export type { CacheRecord, Claim, Lock } from "../store.ts";
export type { CacheStore, Kv, MemoryStoreOptions, SharedStoreOptions };
export type { KvAtomicOperation, KvEntry, KvKey } from "./kv.ts";

/** Options of a store in Deno KV. */
export interface KvStoreOptions extends SharedStoreOptions {
  /** The database of `Deno.openKv(path)`. The store doesn't close it. */
  readonly kv: Kv;
  /**
   * Time between polls for invalidations by other processes, in seconds, at most 24
   * days. This process may learn of them that late. It should be well below
   * `maxStaleness`, because memory isn't used for longer without a poll. Default:
   * 0.05.
   */
  readonly interval?: number;
  /**
   * How long Deno KV may take to answer, in seconds, at most 24 days. Default: 1.
   */
  readonly timeout?: number;
}

const KV_STORE: OptionRules<KvStoreOptions> = {
  ...SHARED_STORE,
  kv: required(withMethods("a database from Deno.openKv()", "atomic")),
  interval: aTimeout("seconds"),
  timeout: aTimeout("seconds"),
};

/** A store in Deno KV. */
export interface KvStore extends CacheStore, AsyncDisposable {
  /** Rejects if Deno KV can't be reached. The cache works without it. */
  ping(): Promise<void>;
  /**
   * Stops polling. The database stays open. The cache's `close()` also does this.
   */
  close(): Promise<void>;
}

/**
 * Creates a store in Deno KV, with the memory of this process in front.
 *
 * It is for several processes on one machine that open the same file. Values
 * survive a restart, other processes learn of an invalidation within `interval`,
 * and one computation of a key runs at a time among all of them.
 *
 * Values must be data: JSON values, `undefined`, `bigint`, `Date`, `Map`, `Set`,
 * `RegExp`, `URL`, bytes and typed arrays. Other values stay in memory, and the
 * cache's `onError` is called. Values above the 64 KiB limit of Deno KV are stored
 * in parts.
 *
 * `Deno.openKv` needs `"unstable": ["kv"]` in `deno.json`, or the flag
 * `--unstable-kv`. If the database doesn't answer for `maxStaleness`, a process
 * computes instead of using its memory, and keeps values for no longer than that.
 *
 * @param options The database, the name of the cache, and its limits.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { createCache } from "@quartet/kit/data";
 * import { createKvStore } from "@quartet/kit/data/kv";
 *
 * const kv = await Deno.openKv(":memory:");
 * const cache = createCache({ store: createKvStore({ kv, name: "shop" }) });
 * const load = () => cache.cached("answer", () => 42, { maxAge: 60 });
 * console.assert(await load() + await load() === 84);
 * console.assert(cache.stats().misses === 1);
 *
 * await cache.close();
 * kv.close();
 * ```
 */
export function createKvStore(options: KvStoreOptions): KvStore {
  checkOptions(options, KV_STORE, "create KV store");
  const { kv, interval = 0.05, timeout = 1 } = options;
  const ms = toDelay(interval);
  return new SharedStore(
    options,
    ms,
    () => createKvBackend(kv, ms, timeout, readSettings(options)),
  );
}
