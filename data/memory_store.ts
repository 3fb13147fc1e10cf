/**
 * The store in memory, with least-recently-used eviction by entries and by bytes.
 *
 * ```
 *   entries: Map   key ──▶ entry
 *   recency:       newest ⇄ entry ⇄ entry ⇄ … ⇄ oldest
 * ```
 *
 * No timer removes expired and invalidated entries. They are replaced at the next
 * call, or evicted.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../core/check/options.ts";
import { rule } from "../core/check/rules.ts";
import { type LRUEntry, LRUList } from "../core/collections/lru_list.ts";
import { byteSize } from "./byte_size.ts";
import { type Invalidation, InvalidationLog } from "./invalidation_log.ts";
import type { CacheRecord, CacheStore } from "./store.ts";

/** Limits of a memory store. */
export interface MemoryStoreOptions {
  /** Maximum entries. Default: 10,000. */
  readonly maxEntries?: number;
  /** Maximum estimated size of all entries, in bytes. Default: 64 MiB. */
  readonly maxBytes?: number;
  /**
   * Maximum size of one entry, in bytes. Larger values aren't stored. Default: an
   * eighth of `maxBytes`.
   */
  readonly maxEntryBytes?: number;
  /**
   * Maximum invalidated tags, paths and keys, of each, to remember exactly. Older
   * ones are remembered by hash, so a few entries with the same hash are
   * invalidated too. Default: 100,000.
   */
  readonly maxScopes?: number;
}

const aSize = rule(
  "a positive number",
  (value) => typeof value === "number" && value > 0,
);

/** The rules of {@linkcode MemoryStoreOptions}. */
export const MEMORY_STORE: OptionRules<MemoryStoreOptions> = {
  maxEntries: aSize,
  maxBytes: aSize,
  maxEntryBytes: aSize,
  maxScopes: aSize,
};

/** The default of `maxScopes`. */
export const MAX_SCOPES = 100_000;

/** The size of an entry without its value and key, in bytes. */
const ENTRY_BYTES = 200;

interface Entry extends CacheRecord, LRUEntry<Entry> {
  readonly key: string;
  readonly bytes: number;
}

/**
 * Creates a store in the memory of this process.
 *
 * @param options Its limits.
 * @throws {TypeError} If an option is invalid.
 *
 * @example
 * ```ts
 * import { createCache, createMemoryStore } from "@quartet/kit/data";
 *
 * const cache = createCache({ store: createMemoryStore({ maxEntries: 2 }) });
 * for (const name of ["a", "b", "c"]) {
 *   await cache.cached(name, () => name, { maxAge: 60 });
 * }
 * console.assert(cache.stats().entries === 2);
 * ```
 */
export function createMemoryStore(
  options: MemoryStoreOptions = {},
): CacheStore {
  checkOptions(options, MEMORY_STORE, "create memory store");
  return new MemoryStore(options);
}

/** See {@linkcode createMemoryStore}. */
export class MemoryStore implements CacheStore {
  readonly invalidations: InvalidationLog;
  readonly #maxEntries: number;
  readonly #maxBytes: number;
  /** See {@linkcode MemoryStoreOptions}. */
  readonly maxEntryBytes: number;
  #map = new Map<string, Entry>();
  readonly #recency = new LRUList<Entry>();
  /** See {@linkcode CacheStore}. */
  bytes = 0;
  /** See {@linkcode CacheStore}. */
  evictions = 0;

  constructor(
    {
      maxEntries = 10_000,
      maxBytes = 64 * 1024 * 1024,
      maxEntryBytes = maxBytes / 8,
      maxScopes = MAX_SCOPES,
    }: MemoryStoreOptions = {},
  ) {
    this.#maxEntries = maxEntries;
    this.#maxBytes = maxBytes;
    this.maxEntryBytes = maxEntryBytes;
    this.invalidations = new InvalidationLog(maxScopes);
  }

  get entries(): number {
    return this.#map.size;
  }

  peek(key: string): CacheRecord | undefined {
    const entry = this.#map.get(key);
    if (entry !== undefined) this.#recency.use(entry);
    return entry;
  }

  set(key: string, record: CacheRecord): void {
    const { value, tags, paths, keys } = record;
    const limit = Math.min(this.maxEntryBytes, this.#maxBytes);
    // Records without parts share the tags and paths of their function, but not the
    // path of the request, which is the last one.
    const scopes = keys === undefined
      ? (paths.at(-1)?.length ?? 0) * 2
      : byteSize([tags, paths, keys], limit);
    const bytes = ENTRY_BYTES + key.length * 2 + byteSize(value, limit) +
      scopes;
    this.delete(key);
    if (bytes > limit) return;
    const entry: Entry = {
      ...record,
      key,
      bytes,
      newer: undefined,
      older: undefined,
    };
    this.#map.set(key, entry);
    this.#recency.add(entry);
    this.bytes += bytes;
    while (this.#map.size > this.#maxEntries || this.bytes > this.#maxBytes) {
      this.delete(this.#recency.oldest!.key);
      this.evictions++;
    }
  }

  delete(key: string): void {
    const entry = this.#map.get(key);
    if (entry === undefined) return;
    this.#map.delete(key);
    this.#recency.delete(entry);
    this.bytes -= entry.bytes;
  }

  invalidate(what: Invalidation): void {
    this.invalidations.invalidate(what);
    if (what.all === true) this.clear();
  }

  /** Drops all records. */
  clear(): void {
    // Not `Map.clear()`: that would visit all of them.
    this.#map = new Map();
    this.#recency.clear();
    this.bytes = 0;
  }
}
