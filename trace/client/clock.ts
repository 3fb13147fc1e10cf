/**
 * The time and random ids in the browser.
 *
 * @module
 */

/**
 * Returns the browser's time, in epoch milliseconds with a fraction.
 *
 * @param at Milliseconds since the page began to load. Default: now.
 */
export function now(at: number = performance.now()): number {
  return performance.timeOrigin + at;
}

/** Returns 16 random lower-case hex digits. */
export function randomId(): string {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(16)
    .padStart(16, "0");
}
