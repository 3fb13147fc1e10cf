/**
 * Where the browser's half reads the time and draws its ids.
 *
 * @module
 */

/**
 * The browser's time, in epoch milliseconds with a fraction.
 *
 * @param at When, in milliseconds since the page began to load. Default: now.
 */
export function now(at: number = performance.now()): number {
  return performance.timeOrigin + at;
}

/** Draws a random id: two lower-case hex digits a byte. */
export function randomId(bytes: number): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => (byte + 256).toString(16).slice(1),
  ).join("");
}
