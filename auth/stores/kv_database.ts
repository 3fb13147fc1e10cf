/** A key of Deno KV. */
export type KvKey =
  readonly (string | number | bigint | boolean | Uint8Array)[];

/** The part of a Deno KV transaction that the store uses. */
export interface KvTransaction {
  /** Makes the transaction fail if an entry no longer has this version. */
  check(
    entry: { readonly key: KvKey; readonly versionstamp: string | null },
  ): KvTransaction;
  /** Sets an entry. */
  set(
    key: KvKey,
    value: unknown,
    options: { expireIn: number },
  ): KvTransaction;
  /** Deletes an entry. */
  delete(key: KvKey): KvTransaction;
  /** Commits all of it, or nothing. */
  commit(): Promise<{ readonly ok: boolean }>;
}

/**
 * The part of `Deno.Kv` that the store uses. Written out so that programs
 * without `--unstable-kv` can be type-checked.
 */
export interface KvDatabase {
  /** Reads an entry, with strong consistency. */
  get(
    key: KvKey,
  ): Promise<{ readonly value: unknown; readonly versionstamp: string | null }>;
  /** Reads the entries whose keys begin with a prefix, in order. */
  list(
    selector: { prefix: KvKey } | { prefix: KvKey; start: KvKey },
  ): AsyncIterable<{
    readonly key: readonly unknown[];
    readonly value: unknown;
    readonly versionstamp: string;
  }>;
  /** Begins a transaction. */
  atomic(): KvTransaction;
}
