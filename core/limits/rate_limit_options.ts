import { checkOptions, type OptionRules } from "../check/options.ts";
import {
  aFunction,
  aNonEmptyString,
  aPositiveNumber,
  oneOf,
  withMethods,
} from "../check/rules.ts";
import type { RateLimitStore } from "./rate_limit_store.ts";

/** The behaviour of a limit while its store can't be reached. */
export type RateLimitFallback = "memory" | "allow" | "refuse";

/** Options of limits that several processes can share. */
export interface SharedRateLimitOptions {
  /**
   * The store that counts, for all processes that use it. Default: the memory of
   * this process.
   */
  readonly store?: RateLimitStore;
  /**
   * The limit's name in the store. Required with `store`. Limits of the same
   * kind with one name share their counts, in all processes.
   */
  readonly name?: string;
  /**
   * The behaviour while the store can't be reached:
   *
   * - `memory` (default): this process counts by itself, from zero on.
   * - `allow`: nothing is limited.
   * - `refuse`: nothing is allowed. The answer is 503 `UNAVAILABLE` with
   *   `Retry-After`.
   */
  readonly fallback?: RateLimitFallback;
  /**
   * Maximum keys that this process remembers, without a store or while it can't
   * be reached. Beyond that, the least recently used are forgotten, even those at
   * their limit. So name callers by something that they can't make up.
   * Default: 100,000.
   */
  readonly maxKeys?: number;
  /**
   * Returns the time of this process's counts, in milliseconds. Stores have
   * their own clock. Default: `performance.now`.
   */
  readonly now?: () => number;
}

/** The rules of {@linkcode SharedRateLimitOptions}. */
export const SHARED_RATE_LIMIT_OPTIONS: OptionRules<SharedRateLimitOptions> = {
  store: withMethods(
    "a rate limit store, such as createRedisRateLimitStore()",
    "take",
    "settle",
  ),
  name: aNonEmptyString,
  fallback: oneOf("memory", "allow", "refuse"),
  maxKeys: aPositiveNumber,
  now: aFunction,
};

/**
 * Checks the options of a limit.
 *
 * @param operation The operation in error messages.
 * @throws {TypeError} If something is wrong, or there is a store, but no name.
 */
export function checkLimitOptions(
  options: SharedRateLimitOptions,
  rules: OptionRules<SharedRateLimitOptions>,
  operation: string,
): void {
  checkOptions(options, rules, operation);
  const { store, name } = options;
  if (store === undefined || name !== undefined) return;
  throw new TypeError(
    `Cannot ${operation}: name must be a non-empty string, received undefined; limits with a store need one, so that they don't share their counts`,
  );
}
