/**
 * Self time: how long a span ran while none of its children did.
 *
 * It is the span's duration minus the union of its children's intervals,
 * clipped to the span. So children that run at the same time count once, a
 * child that outlives its parent takes nothing from anybody else, and the self
 * times of a tree without overlapping siblings add up to its duration.
 * A span without children takes its duration as it was recorded.
 *
 * @module
 */

import { gapsWithin, type Interval, unionWithin } from "./intervals.ts";

/** The part of a span that self time needs. */
export interface Timed {
  /** When it began, in epoch milliseconds. */
  readonly startTime: number;
  /** When it ended, in epoch milliseconds. */
  readonly endTime: number;
}

/** When a span ran and none of its children did. */
export function selfSegments(
  span: Timed,
  children: readonly Timed[],
): Interval[] {
  const { startTime, endTime } = span;
  if (endTime <= startTime) return [];
  if (children.length === 0) return [[startTime, endTime]];
  const busy = unionWithin(
    children.map((child) => [child.startTime, child.endTime] as const),
    startTime,
    endTime,
  );
  return gapsWithin(busy, startTime, endTime);
}
