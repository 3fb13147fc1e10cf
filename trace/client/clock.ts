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

/** Returns a random id, with 16 lower-case hex digits for each word. */
export function randomId(words: number): string {
  return Array.from(
    crypto.getRandomValues(new BigUint64Array(words)),
    (word) => word.toString(16).padStart(16, "0"),
  ).join("");
}
