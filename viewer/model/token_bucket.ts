/**
 * Limits the rate of something: a burst first, then one for each interval.
 *
 * @module
 */

/**
 * Creates a full bucket of `size` tokens; `interval` milliseconds refill one.
 *
 * @returns A function that takes a token. It returns 0, or the milliseconds to
 * wait for the next one.
 */
export function createTokenBucket(size: number, interval: number) {
  /** The time at which the bucket is full again. */
  let fullAt = -Infinity;
  return (now: number): number => {
    const missing = Math.max(0, fullAt - now);
    const wait = missing - (size - 1) * interval;
    if (wait > 0) return wait;
    fullAt = now + missing + interval;
    return 0;
  };
}
