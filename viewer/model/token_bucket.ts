/**
 * Limits the rate of something: a burst first, then one for each interval.
 *
 * @module
 */

/** Takes a token. Returns 0, or the milliseconds to wait for the next one. */
export type TokenBucket = (now: number) => number;

/** Creates a full bucket of `size` tokens; `interval` milliseconds refill one. */
export function createTokenBucket(size: number, interval: number): TokenBucket {
  /** The time at which the bucket is full again. */
  let fullAt = -Infinity;
  return (now) => {
    const missing = Math.max(0, fullAt - now);
    const wait = missing - (size - 1) * interval;
    if (wait > 0) return wait;
    fullAt = now + missing + interval;
    return 0;
  };
}
