import type { Rules } from "../../core/check/check_options.ts";
import {
  aBoolean,
  aDuration,
  aFunction,
  aNonEmptyString,
  aTimeout,
  required,
} from "../../core/check/rules.ts";
import { MEMORY_STORE, type MemoryStoreOptions } from "../memory_store.ts";

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
   * The name of the cache. Stores of the same name share their records. No other
   * application that uses the same database may have it.
   */
  readonly name: string;
  /**
   * How long one process may keep the others waiting that want the same value,
   * in seconds, 24 days at most. Then they compute it themselves. Default: 10.
   */
  readonly lockTime?: number;
  /**
   * How long a process uses its memory without having heard from the store, in
   * seconds. After that, it computes, and keeps a value in memory for no longer
   * than this. `Infinity`: it goes on with its memory. Default: 3.
   */
  readonly maxStaleness?: number;
  /**
   * Whether each hit in memory first asks the store for invalidations. After
   * `await revalidateTag()` in one process, no other process gives an old value
   * then. Otherwise, it may do so for some milliseconds. Default: `false`.
   */
  readonly strict?: boolean;
  /** The clock, as in the cache. Default: `Date.now`. */
  readonly now?: () => number;
}
