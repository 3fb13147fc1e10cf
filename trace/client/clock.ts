/**
 * Where the browser's half reads the time and draws its ids.
 *
 * @module
 */

/** The browser's time, in epoch milliseconds with a fraction. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Draws a random id: two lower-case hex digits a byte. */
export function randomId(bytes: number): string {
  return Array.from(
    crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => (byte + 256).toString(16).slice(1),
  ).join("");
}
