import type { OptionRules } from "../check/options.ts";
import {
  aFunction,
  aNonEmptyString,
  aPositiveNumber,
  isA,
  oneOf,
  withMethods,
} from "../check/rules.ts";
import { attempt, type MaybePromise, whenDone } from "../promises.ts";
import { UnavailableError } from "../error_response.ts";
import { createMemoryRateLimitStore } from "./memory_rate_limit_store.ts";
import type {
  RateLimitKey,
  RateLimitResult,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

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

/** The answer to an event, and its store. */
interface Taken extends RateLimitResult {
  /** The store that counted the event. `undefined` for this process's memory. */
  readonly store?: RateLimitStore;
}

/**
 * Creates what counts in a store, or in memory, for one limit. The options'
 * values have been checked.
 *
 * @param operation The operation in error messages.
 * @throws {TypeError} If there is a store, but no name.
 */
export function createLimitCounter(
  options: SharedRateLimitOptions,
  operation: string,
) {
  const { store, name, fallback = "memory", maxKeys = 100_000 } = options;
  const { now = () => performance.now() } = options;
  if (store !== undefined && name === undefined) {
    throw new TypeError(
      `Cannot ${operation}: name must be a non-empty string, received undefined; limits with a store need one, so that they don't share their counts`,
    );
  }
  const memory = createMemoryRateLimitStore(maxKeys, now);

  /**
   * Returns the milliseconds until a key isn't at its maximum, if that can be
   * known without a round trip. Otherwise returns 0.
   */
  function peek(key: RateLimitKey): number {
    return store === undefined ? memory.wait(key) : 0;
  }

  /**
   * Counts an event for its keys, unless one of them is at its maximum.
   *
   * @throws {UnavailableError} If the store can't be reached, and `fallback` is
   * `refuse`.
   */
  function take(keys: readonly RateLimitKey[]): MaybePromise<Taken> {
    if (store === undefined) return memory.take(keys);
    return attempt<Taken>(
      () => whenDone(store.take(keys), (result) => ({ ...result, store })),
      (error) => withoutStore(keys, error),
    );
  }

  /** Settles an event with the store that has counted it. */
  function settle(
    { store }: Taken,
    settlement: RateLimitSettlement,
  ): MaybePromise<void> {
    if (store === undefined) return memory.settle(settlement);
    const { mark } = settlement;
    // The memory counts while the store can't be reached.
    if (mark !== undefined) {
      memory.settle({ keys: [], windows: [], mark });
    }
    // The event then stays counted, which is the safe side.
    return attempt(() => store.settle(settlement), (error) => {
      if (!isA(error, UnavailableError)) throw error;
    });
  }

  function withoutStore(keys: readonly RateLimitKey[], error: unknown): Taken {
    const isOutage = isA(error, UnavailableError);
    if (!isOutage || fallback === "refuse") throw error;
    if (fallback === "allow") return { wait: 0, windows: [] };
    return memory.take(keys);
  }

  return {
    /** The limit's name. Empty without a store. */
    name: name ?? "",
    peek,
    take,
    settle,
  };
}
