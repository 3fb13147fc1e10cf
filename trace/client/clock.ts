/**
 * Where the browser's half reads the time and draws its ids.
 *
 * @module
 */

import { toHex } from "../../core/bytes/hex.ts";

/**
 * The browser's time, in epoch milliseconds with a fraction.
 *
 * @param at When, in milliseconds since the page began to load. Default: now.
 */
export function now(at: number = performance.now()): number {
  return performance.timeOrigin + at;
}

/** Returns a random id: two lower-case hex digits a byte. */
export function randomId(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
