/**
 * Sets of moments as sorted lists of intervals that don't overlap.
 *
 * @module
 */

/** From a start to an end, both in milliseconds; the end is never earlier. */
export type Interval = readonly [start: number, end: number];

/** The summed length of intervals that don't overlap. */
export function totalLength(intervals: readonly Interval[]): number {
  let total = 0;
  for (const [start, end] of intervals) total += end - start;
  return total;
}
