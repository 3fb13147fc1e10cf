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

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { aTimeout, required, withMethods } from "../../core/check/rules.ts";
import { toDelay } from "../../core/runtime/timeouts.ts";
import type { MemoryStoreOptions } from "../memory_store.ts";
import {
  SHARED_STORE,
  type SharedStoreOptions,
} from "../shared/shared_options.ts";
import { SharedStore } from "../shared/shared_store.ts";
import type { CacheStore } from "../store.ts";
import type { Kv } from "./kv.ts";
import { KvBackend } from "./kv_backend.ts";

export type { Invalidation, InvalidationLog } from "../invalidation_log.ts";
export type { CacheRecord, Claim, Lock } from "../store.ts";
export type { CacheStore, Kv, MemoryStoreOptions, SharedStoreOptions };
export type { KvAtomicOperation, KvEntry, KvKey } from "./kv.ts";

/** Options of a store in Deno KV. */
export interface KvStoreOptions extends SharedStoreOptions {
  /** The database of `Deno.openKv(path)`. The store doesn't close it. */
  readonly kv: Kv;
  /**
   * How long to wait between two looks at what other processes have
   * invalidated, in seconds, 24 days at most. This process may be that late to
   * notice their invalidations. It should be well below `maxStaleness`: after
   * that, memory isn't used until the next look. Default: 0.05.
   */
  readonly interval?: number;
  /**
   * How long Deno KV may take to answer, in seconds, 24 days at most. Default: 1.
   */
  readonly timeout?: number;
}

const KV_STORE: OptionRules<KvStoreOptions> = {
  ...SHARED_STORE,
  kv: required(withMethods("what Deno.openKv() gives", "atomic")),
  interval: aTimeout("seconds"),
  timeout: aTimeout("seconds"),
};

/** A store in Deno KV. */
export interface KvStore extends CacheStore, AsyncDisposable {
  /** Rejects if Deno KV can't be reached. For readiness. */
  ping(): Promise<void>;
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
 * If the database doesn't answer for `maxStaleness`, a process computes instead
 * of using its memory, and keeps values for no longer than that.
 *
 * @param options The database, its part, and how much to keep.
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
  const { kv, name, interval = 0.05, lockTime = 10, timeout = 1 } = options;
  const { now = Date.now } = options;
  return new SharedStore(
    options,
    toDelay(interval),
    (_exchange, { maxScopes }) =>
      new KvBackend({
        kv,
        name,
        lockTime: toDelay(lockTime),
        interval: toDelay(interval),
        timeout: toDelay(timeout),
        maxScopes,
        now,
      }),
  );
}
