/**
 * The interface of stores of rate limits. All processes that share a store share
 * its limits.
 *
 * ```
 *              key, key, key                    windows
 * an event ──────────────────► take() ─ counted ────────► settle(), if it is to
 *                                │                        be taken back
 *                                └─ refused ► time to wait
 * ```
 *
 * A key's window begins with its first event and lasts `windowMs`. Each call is
 * one atomic step and, in a remote store, one round trip.
 *
 * @module
 */

/** How many events of a key are allowed in a window. */
export interface RateLimitRule {
  /**
   * Its name. Rules of different names count separately, and their keys don't
   * displace each other.
   */
  readonly name: string;
  /** Maximum events of a key in a window. May have a fraction: 0.5 allows 1. */
  readonly max: number;
  /** How long a window lasts from its first event on, in milliseconds. */
  readonly windowMs: number;
}

/** A key that an event counts for. */
export interface RateLimitKey {
  /** The rule. */
  readonly rule: RateLimitRule;
  /**
   * Any text, of any length. It may hold an e-mail address: remote stores keep
   * its hash only.
   */
  readonly key: string;
  /**
   * The name of a mark: any text, as `key`. While there is such a mark, this key
   * is neither checked nor counted.
   */
  readonly unless?: string;
}

/** A key's window, as the store identifies it. A later window of it differs. */
export type RateLimitWindow = unknown;

/** The answer to an event. */
export interface RateLimitResult {
  /**
   * Milliseconds until no key of the event is at its maximum any more. 0 if none
   * is: then the event was counted. Never more than the longest `windowMs`.
   */
  readonly wait: number;
  /**
   * The windows that it was counted in, one for each key. `undefined` for a key
   * that wasn't counted because of its mark. Empty if the event was refused.
   */
  readonly windows: readonly RateLimitWindow[];
}

/** The changes after an event that succeeded, such as a sign-in. */
export interface RateLimitSettlement {
  /** The keys that were passed to `take()`. */
  readonly keys: readonly RateLimitKey[];
  /** The windows that it returned. */
  readonly windows: readonly RateLimitWindow[];
  /** A key whose count becomes 0, in the window that it has now. */
  readonly clear?: RateLimitKey;
  /** A mark to set or renew. */
  readonly mark?: {
    /** Its name, as in `unless`. */
    readonly name: string;
    /** How long it lasts from now on, in milliseconds. */
    readonly ms: number;
  };
}

/**
 * A store of rate limits.
 *
 * While it can't be reached, its methods reject with `UnavailableError`, within
 * the store's time limit. The limit's `fallback` says what happens then. The
 * store itself reports each outage once. Other errors fail the request.
 */
export interface RateLimitStore {
  /**
   * Counts an event for all of its keys. If one of them is at its maximum, the
   * event is refused and counts for none.
   *
   * @param keys The keys, at least one, each once.
   */
  take(
    keys: readonly RateLimitKey[],
  ): RateLimitResult | Promise<RateLimitResult>;
  /**
   * Takes an event back: one from the count of each window that it was counted
   * in, if that window still is the key's and its count isn't 0. Then sets the
   * count of `clear` to 0, and sets `mark`.
   */
  settle(settlement: RateLimitSettlement): void | Promise<void>;
}
