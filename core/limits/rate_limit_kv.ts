/**
 * The used part of `Deno.Kv`. Written out so that programs without
 * `--unstable-kv` can be type-checked.
 *
 * @module
 */

/** A key of Deno KV. */
export type RateLimitKvKey =
  readonly (string | number | bigint | boolean | Uint8Array)[];

/** An entry of Deno KV. */
export interface RateLimitKvEntry {
  /** The key. */
  readonly key: readonly unknown[];
  /** The value; `null` if there is none. */
  readonly value: unknown;
  /** Changes with the value; `null` if there is none. */
  readonly versionstamp: string | null;
}

/** The used part of a Deno KV transaction. */
export interface RateLimitKvTransaction {
  /** Makes the transaction fail if an entry no longer has this version. */
  check(
    entry: {
      readonly key: RateLimitKvKey;
      readonly versionstamp: string | null;
    },
  ): RateLimitKvTransaction;
  /** Sets an entry, for so many milliseconds. */
  set(
    key: RateLimitKvKey,
    value: unknown,
    options: { expireIn: number },
  ): RateLimitKvTransaction;
  /** Commits all of it, or nothing. */
  commit(): Promise<{ readonly ok: boolean }>;
}

/** The used part of `Deno.Kv`. */
export interface RateLimitKv {
  /** Reads entries, all at the same moment. */
  getMany(keys: readonly RateLimitKvKey[]): Promise<RateLimitKvEntry[]>;
  /** Begins a transaction. */
  atomic(): RateLimitKvTransaction;
}
