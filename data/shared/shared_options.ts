import type { Rules } from "../../core/check/options.ts";
import {
  aBoolean,
  aDuration,
  aFunction,
  aNonEmptyString,
  aTimeout,
  required,
} from "../../core/check/rules.ts";
import { toDelay } from "../../core/promises.ts";
import {
  MAX_SCOPES,
  MEMORY_STORE,
  type MemoryStoreOptions,
} from "../memory_store.ts";

/** The rules of the options that all shared stores have. */
export const SHARED_STORE = {
  ...MEMORY_STORE,
  name: required(aNonEmptyString),
  lockTime: aTimeout("seconds"),
  maxStaleness: aDuration("seconds", { endless: true }),
  strict: aBoolean,
  now: aFunction,
} satisfies Rules;

/** Options that all shared stores have. The limits apply to memory. */
export interface SharedStoreOptions extends MemoryStoreOptions {
  /**
   * The name of the cache. Stores with the same name share their values, so each
   * application needs its own.
   */
  readonly name: string;
  /**
   * How long other processes wait for a computation, in seconds, at most 24 days.
   * After that, they compute the value themselves. Default: 10.
   */
  readonly lockTime?: number;
  /**
   * How long a process uses its memory without contact to the store, in seconds.
   * After that, it computes, and keeps values in memory for no longer than this.
   * `Infinity`: it keeps using its memory. Default: 3.
   */
  readonly maxStaleness?: number;
  /**
   * Whether each hit in memory first asks the store for invalidations. Then no
   * process serves an old value after `await revalidateTag()` in another one.
   * Otherwise it may do so for some milliseconds. Default: `false`.
   */
  readonly strict?: boolean;
  /** The clock, as in the cache. Default: `Date.now`. */
  readonly now?: () => number;
}

/** The options that backends use, with defaults and in milliseconds. */
export type BackendSettings = ReturnType<typeof readSettings>;

/** Returns the options that backends use. */
export function readSettings(
  { name, lockTime = 10, maxScopes = MAX_SCOPES, now = Date.now }:
    SharedStoreOptions,
) {
  return { name, lockTime: toDelay(lockTime), maxScopes, now };
}
