/**
 * The common scale of the duration bars in the list. Lengths are square roots:
 * a slow trace stands out, and a cached request still has a bar.
 *
 * @module
 */

import { clamp, roundUp } from "./numbers.ts";

/**
 * Returns the end of the scale for durations up to `longest`, in milliseconds:
 * 1, 2 or 5 times a power of ten, so that it rarely changes.
 */
export function scaleEnd(longest: number): number {
  return longest > 0 ? roundUp(longest) : 1;
}

/** Returns the length of a bar, from 0 to 1. Each duration above 0 has one. */
export function barLength(duration: number, end: number): number {
  return duration > 0 ? clamp(Math.sqrt(duration / end), 0.01, 1) : 0;
}
