/**
 * The store in memory: the least recently used give way, counted in entries and
 * in bytes.
 *
 * ```
 *   entries: Map   key ──▶ entry
 *   recency:       newest ⇄ entry ⇄ entry ⇄ … ⇄ oldest
 * ```
 *
 * There is no timer. What has expired or was invalidated is dropped when it is
 * asked for, or gives way because nobody asks for it.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../core/check/check_options.ts";
import { type LRUEntry, LRUList } from "../core/collections/lru_list.ts";
import { byteSize } from "./byte_size.ts";
import { checkPositive } from "./check.ts";
import {
  type CacheScopes,
  DEFAULT_MAX_SCOPES,
  ScopeTable,
} from "./scope_table.ts";
import type { CacheRecord, CacheStore } from "./store.ts";

/** How much a memory store holds. */
export interface MemoryStoreOptions {
  /** How many entries at most. Default 10,000. */
  readonly maxEntries?: number;
  /** How many bytes at most, estimated. Default 64 MiB. */
  readonly maxBytes?: number;
  /** The largest entry that is kept, in bytes. Default: an eighth of all. */
  readonly maxEntryBytes?: number;
  /**
   * The maximum of invalidated tags, of paths and of keys that are remembered
   * exactly. Older ones are remembered by hash, so a few entries with the same
   * hash are invalidated too. Default: 100,000.
   */
  readonly maxScopes?: number;
}

/** The names of {@linkcode MemoryStoreOptions}. */
export const MEMORY_STORE: OptionRules<MemoryStoreOptions> = {
  maxEntries: true,
  maxBytes: true,
  maxEntryBytes: true,
  maxScopes: true,
};

/** What an entry takes beside its value and its key, in bytes. */
const ENTRY_BYTES = 200;

class Entry implements CacheRecord, LRUEntry<Entry> {
  newer: Entry | undefined;
  older: Entry | undefined;
  readonly scopeKey: string;
  readonly value: unknown;
  readonly began: number;
  readonly tags: readonly string[];
  readonly paths: readonly string[];
  readonly keys: readonly string[] | undefined;
  readonly freshUntil: number;
  readonly keepUntil: number;
  checked: number;

  constructor(
    readonly key: string,
    record: CacheRecord,
    readonly bytes: number,
  ) {
    this.scopeKey = record.scopeKey;
    this.value = record.value;
    this.began = record.began;
    this.tags = record.tags;
    this.paths = record.paths;
    this.keys = record.keys;
    this.freshUntil = record.freshUntil;
    this.keepUntil = record.keepUntil;
    this.checked = record.checked;
    this.newer = undefined;
    this.older = undefined;
  }
}

/**
 * Makes a store in the memory of this process.
 *
 * @param options How much it holds.
 * @throws {TypeError} If a limit is not a positive number.
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
  return new MemoryStore(readLimits(options, "create memory store"));
}

/**
 * Checks how much a store may hold.
 *
 * @throws {TypeError} If a limit is not a positive number.
 */
export function readLimits(
  options: MemoryStoreOptions,
  operation: string,
): Required<MemoryStoreOptions> {
  const {
    maxEntries = 10_000,
    maxBytes = 64 * 1024 * 1024,
    maxEntryBytes = maxBytes / 8,
    maxScopes = DEFAULT_MAX_SCOPES,
  } = options;
  const limits = { maxEntries, maxBytes, maxEntryBytes, maxScopes };
  for (const [name, limit] of Object.entries(limits)) {
    checkPositive(limit, name, operation);
  }
  return limits;
}

/** See {@linkcode createMemoryStore}. */
export class MemoryStore implements CacheStore {
  readonly scopes: ScopeTable;
  readonly #limits: Required<MemoryStoreOptions>;
  #map = new Map<string, Entry>();
  readonly #recency = new LRUList<Entry>();
  #bytes = 0;
  #evictions = 0;

  constructor(limits: Required<MemoryStoreOptions>) {
    this.#limits = limits;
    this.scopes = new ScopeTable(limits.maxScopes);
  }

  get entries(): number {
    return this.#map.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get evictions(): number {
    return this.#evictions;
  }

  peek(key: string): CacheRecord | undefined {
    const entry = this.#map.get(key);
    if (entry !== undefined) this.#recency.use(entry);
    return entry;
  }

  set(key: string, record: CacheRecord): void {
    const { maxEntries, maxBytes, maxEntryBytes } = this.#limits;
    const limit = Math.min(maxBytes, maxEntryBytes);
    const { value, tags, paths, keys } = record;
    // The scopes of a function are everybody's; those of parts are its own.
    const scopes = keys === undefined
      ? 0
      : byteSize([tags, paths, keys], limit);
    const bytes = ENTRY_BYTES + key.length * 2 + byteSize(value, limit) +
      scopes;
    this.delete(key);
    if (bytes > limit) return;
    const entry = new Entry(key, record, bytes);
    this.#map.set(key, entry);
    this.#recency.add(entry);
    this.#bytes += bytes;
    while (this.#map.size > maxEntries || this.#bytes > maxBytes) {
      this.delete(this.#recency.oldest!.key);
      this.#evictions++;
    }
  }

  delete(key: string): void {
    const entry = this.#map.get(key);
    if (entry === undefined) return;
    this.#map.delete(key);
    this.#recency.delete(entry);
    this.#bytes -= entry.bytes;
  }

  invalidate(scopes: CacheScopes): void {
    this.scopes.invalidate(scopes);
    if (scopes.all === true) this.clear();
  }

  /** Drops all records. */
  clear(): void {
    // Not `Map.clear()`: that would visit all of them.
    this.#map = new Map();
    this.#recency.clear();
    this.#bytes = 0;
  }
}
