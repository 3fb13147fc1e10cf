/**
 * The used part of `Deno.Kv`. Written out so that programs without
 * `--unstable-kv` can be type-checked.
 *
 * @module
 */

import type { KvEntry, KvKey, KvTransaction } from "../kv.ts";

/** A key of Deno KV. */
export type RateLimitKvKey = KvKey;

/** An entry of Deno KV. */
export type RateLimitKvEntry = KvEntry;

/** The used part of a Deno KV transaction. */
export type RateLimitKvTransaction = KvTransaction;

/** The used part of `Deno.Kv`. */
export interface RateLimitKv {
  /** Reads entries, all at the same moment. */
  getMany(keys: readonly RateLimitKvKey[]): Promise<RateLimitKvEntry[]>;
  /** Begins a transaction. */
  atomic(): RateLimitKvTransaction;
}
