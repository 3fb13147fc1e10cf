/**
 * Sets of moments as sorted lists of intervals that neither touch nor overlap.
 *
 * @module
 */

/** From a start to an end, both in milliseconds; the end is never earlier. */
export type Interval = readonly [start: number, end: number];

/** The union of intervals, clipped to `[start, end]`. */
export function unionWithin(
  intervals: readonly Interval[],
  start: number,
  end: number,
): Interval[] {
  const sorted = [...intervals].sort((a, b) => a[0] - b[0]);
  const union: [number, number][] = [];
  for (const interval of sorted) {
    const from = Math.max(interval[0], start);
    const to = Math.min(interval[1], end);
    if (to <= from) continue;
    const last = union.at(-1);
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to);
    else union.push([from, to]);
  }
  return union;
}

/** What of `[start, end]` a sorted union leaves free. */
export function gapsWithin(
  union: readonly Interval[],
  start: number,
  end: number,
): Interval[] {
  const gaps: Interval[] = [];
  let cursor = start;
  for (const [from, to] of union) {
    if (from > cursor) gaps.push([cursor, from]);
    cursor = to;
  }
  if (end > cursor) gaps.push([cursor, end]);
  return gaps;
}

/** The summed length of intervals that don't overlap. */
export function totalLength(intervals: readonly Interval[]): number {
  let total = 0;
  for (const [start, end] of intervals) total += end - start;
  return total;
}
