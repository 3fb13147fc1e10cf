/** A key of Deno KV. */
export type KvKey =
  readonly (string | number | bigint | boolean | Uint8Array)[];

/** The value under a key, if there is one. */
export interface KvEntry {
  /** The key. */
  readonly key: readonly unknown[];
  /** The value; `null` if there is none. */
  readonly value: unknown;
  /** Changes with the value; `null` if there is none. */
  readonly versionstamp: string | null;
}

/** Changes that are made together, or not at all. */
export interface KvAtomicOperation {
  /** Makes them only if these are unchanged. */
  check(
    ...checks: { readonly key: KvKey; readonly versionstamp: string | null }[]
  ): this;
  /** Sets a value, for so many milliseconds if `expireIn` says so. */
  set(key: KvKey, value: unknown, options?: { expireIn?: number }): this;
  /** Deletes a value. */
  delete(key: KvKey): this;
  /** Makes the changes, if the checks allow it. */
  commit(): Promise<{ readonly ok: boolean }>;
}

/**
 * The used part of `Deno.Kv`, as `Deno.openKv(path)` returns it. The type of Deno
 * itself exists only with `unstable.kv`.
 */
export interface Kv {
  /** Reads values, all at the same moment. */
  getMany(keys: readonly KvKey[]): Promise<KvEntry[]>;
  /** Reads the values whose keys begin so, in order. */
  list(
    selector: { prefix: KvKey } | { prefix: KvKey; start: KvKey },
    options: { limit: number; batchSize: number },
  ): AsyncIterableIterator<KvEntry>;
  /** Begins changes. */
  atomic(): KvAtomicOperation;
}
