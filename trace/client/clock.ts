/**
 * The time and random ids in the browser.
 *
 * @module
 */

/**
 * Returns milliseconds since the page began to load. The server converts them to
 * its own clock.
 */
export function now(): number {
  return performance.now();
}

/** Returns 16 random lower-case hex digits. */
export function randomId(): string {
  return crypto.getRandomValues(new BigUint64Array(1))[0]!.toString(16)
    .padStart(16, "0");
}
