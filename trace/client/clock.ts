/**
 * The time and random ids in the browser.
 *
 * @module
 */

import { toHex } from "../../core/bytes/hex.ts";

/**
 * Returns the browser's time, in epoch milliseconds with a fraction.
 *
 * @param at Milliseconds since the page began to load. Default: now.
 */
export function now(at: number = performance.now()): number {
  return performance.timeOrigin + at;
}

/** Returns a random id, with two lower-case hex digits for each byte. */
export function randomId(bytes: number): string {
  return toHex(crypto.getRandomValues(new Uint8Array(bytes)));
}
