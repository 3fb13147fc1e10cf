import type { KvEntry, KvKey, KvTransaction } from "../../core/kv.ts";

export type { KvKey, KvTransaction };

/**
 * The part of `Deno.Kv` that the store uses. Written out so that programs
 * without `--unstable-kv` can be type-checked.
 */
export interface KvDatabase {
  /** Reads an entry, with strong consistency. */
  get(key: KvKey): Promise<Pick<KvEntry, "value" | "versionstamp">>;
  /** Reads the entries whose keys begin with a prefix, in order. */
  list(
    selector: { prefix: KvKey } | { prefix: KvKey; start: KvKey },
  ): AsyncIterable<KvEntry & { readonly versionstamp: string }>;
  /** Begins a transaction. */
  atomic(): KvTransaction;
}
