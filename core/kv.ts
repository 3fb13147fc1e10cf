/**
 * The used parts of Deno KV. Written out so that programs without
 * `--unstable-kv` can be type-checked.
 *
 * @module
 */

/** A key of Deno KV. */
export type KvKey =
  readonly (string | number | bigint | boolean | Uint8Array)[];

/** A key and its value, if it has one. */
export interface KvEntry {
  /** The key. */
  readonly key: readonly unknown[];
  /** The value, or `null`. */
  readonly value: unknown;
  /** Changes with the value. `null` if there is none. */
  readonly versionstamp: string | null;
}

/** An atomic operation: all of its changes are made, or none. */
export interface KvTransaction {
  /** Adds a condition: these entries are unchanged. */
  check(
    ...checks: { readonly key: KvKey; readonly versionstamp: string | null }[]
  ): this;
  /** Sets a value. It expires after `expireIn` milliseconds. */
  set(key: KvKey, value: unknown, options?: { expireIn?: number }): this;
  /** Deletes a value. */
  delete(key: KvKey): this;
  /** Makes the changes if all conditions hold. */
  commit(): Promise<{ readonly ok: boolean }>;
}
