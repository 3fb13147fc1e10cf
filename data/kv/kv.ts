import type { KvEntry, KvKey, KvTransaction } from "../../core/kv.ts";

export type { KvEntry, KvKey };

/** An atomic operation: all of its changes are made, or none. */
export type KvAtomicOperation = KvTransaction;

/**
 * The part of `Deno.Kv` that the store uses. Deno's own type exists only with
 * `unstable.kv`.
 */
export interface Kv {
  /** Reads values in one snapshot. */
  getMany(keys: readonly KvKey[]): Promise<KvEntry[]>;
  /** Reads the values whose keys have a prefix, in order. */
  list(
    selector: { prefix: KvKey } | { prefix: KvKey; start: KvKey },
    options: { limit: number; batchSize: number },
  ): AsyncIterableIterator<KvEntry>;
  /** Creates an atomic operation. */
  atomic(): KvAtomicOperation;
}
