import { isA } from "../check/rules.ts";
import { attempt, type MaybePromise, whenDone } from "../promises.ts";
import { UnavailableError } from "../error_response.ts";
import { createMemoryRateLimitStore } from "./memory_rate_limit_store.ts";
import type { SharedRateLimitOptions } from "./rate_limit_options.ts";
import type {
  RateLimitKey,
  RateLimitResult,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

/** The answer to an event, and its store. */
interface Taken extends RateLimitResult {
  /** The store that counted the event. `undefined` for this process's memory. */
  readonly store?: RateLimitStore;
}

/**
 * Creates what counts in a store, or in memory, for one limit. The options have
 * been checked.
 */
export function createLimitCounter(options: SharedRateLimitOptions) {
  const { store, name, fallback = "memory", maxKeys = 100_000 } = options;
  const { now = () => performance.now() } = options;
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
