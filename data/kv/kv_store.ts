/**
 * A store that the processes of one machine share, in a file of Deno KV.
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
import type { Kv } from "./kv.ts";
import { KvBackend } from "./kv_backend.ts";

export type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
export type { CacheRecord } from "../store.ts";
export type { CacheStore, Kv, MemoryStoreOptions };
export type { KvAtomicOperation, KvEntry, KvKey } from "./kv.ts";

/** Options of a store in Deno KV. The limits apply to the memory in front. */
export interface KvStoreOptions extends MemoryStoreOptions {
  /** The database of `Deno.openKv(path)`. The store doesn't close it. */
  readonly kv: Kv;
  /**
   * The first part of the store's keys. Stores of the same name share their
   * records. Default `cache`.
   */
  readonly name?: string;
  /**
   * How long to wait between two looks at what other processes have
   * invalidated, in seconds, 24 days at most. This process may be
   * that late to notice their invalidations. Default 0.05.
   */
  readonly interval?: number;
  /**
   * How long one process may keep the others waiting that want the same value,
   * in seconds, 24 days at most; then they compute it themselves. Default 10.
   */
  readonly lockTime?: number;
  /** Where the time is read, as in the cache. Default: `Date.now`. */
  readonly now?: () => number;
}

const KV_STORE: OptionRules<KvStoreOptions> = {
  ...SHARED_STORE,
  kv: required(withMethods("what Deno.openKv() gives", "atomic")),
  interval: aTimeout("seconds"),
};

/** A store in Deno KV. */
export interface KvStore extends CacheStore, AsyncDisposable {
  /**
   * Stops asking for changes; the database stays open. The cache's `close()` does
   * it as well.
   */
  close(): Promise<void>;
}

/**
 * Creates a store in Deno KV, with the memory of this process in front.
 *
 * It is for several processes on one machine that open the same file: what is
 * kept survives a restart, an invalidation is known to the others within the
 * `interval`, and one computation runs at a time among all of them. Values must
 * be data: values as in JSON, `undefined`, `bigint`, `Date`, `Map`, `Set`,
 * `RegExp`, `URL`, bytes and typed arrays. One that isn't is kept in memory
 * only, and the cache's `onError` hears of it. A value above the 64 KiB of Deno
 * KV is kept in parts.
 *
 * `Deno.openKv` is there if the `deno.json` of the program has
 * `"unstable": ["kv"]`, or with the flag `--unstable-kv`.
 *
 * @param options The database, and how much to keep.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { createCache } from "@quartet/kit/data";
 * import { createKvStore } from "@quartet/kit/data/kv";
 *
 * const kv = await Deno.openKv(":memory:");
 * const cache = createCache({ store: createKvStore({ kv }) });
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
  const {
    kv,
    name = "cache",
    interval = 0.05,
    lockTime = 10,
    now = Date.now,
  } = options;
  return new SharedStore(options, (store) =>
    new KvBackend(store, {
      kv,
      name,
      lockTime: toDelay(lockTime),
      interval: toDelay(interval),
      now,
    }));
}
