/** A key of Deno KV. */
export type KvKey =
  readonly (string | number | bigint | boolean | Uint8Array)[];

/** What is under a key, or that there is nothing. */
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
 * What is used of a `Deno.Kv`: what `Deno.openKv(path)` gives. It is described
 * here because its type is there only for who has turned on `unstable.kv`.
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
