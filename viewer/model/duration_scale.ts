/**
 * The common scale of the duration bars in the list. It is logarithmic, because
 * a page load takes a thousand times as long as a cached request.
 *
 * @module
 */

import { clamp } from "./numbers.ts";

/** A scale, from one power of ten milliseconds to another. */
export interface DurationScale {
  /** The exponent of the shortest duration. */
  readonly from: number;
  /** The exponent of the longest duration. */
  readonly to: number;
}

/** The most powers of ten that a scale has. Shorter bars look equal. */
const MAX_DECADES = 5;

/** Returns the scale for durations in milliseconds. */
export function scaleOf(durations: Iterable<number>): DurationScale {
  let least = Infinity;
  let most = 0;
  for (const duration of durations) {
    if (duration > 0) least = Math.min(least, duration);
    most = Math.max(most, duration);
  }
  if (most === 0) return { from: 0, to: 1 };
  const to = Math.ceil(Math.log10(most));
  const from = Math.min(Math.floor(Math.log10(least)), to - 1);
  return { from: Math.max(from, to - MAX_DECADES), to };
}

/** Returns the length of a bar, from 0 to 1. Each duration above 0 has one. */
export function barLength(
  duration: number,
  { from, to }: DurationScale,
): number {
  if (!(duration > 0)) return 0;
  return clamp((Math.log10(duration) - from) / (to - from), 0.02, 1);
}
