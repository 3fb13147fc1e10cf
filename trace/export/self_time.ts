/**
 * Self time: how long a span ran while none of the children it waits for did.
 *
 * It is the span's duration minus the union of its children's intervals,
 * clipped to the span. So children that run at the same time count once, a
 * child that outlives its parent takes nothing from anybody else, and the self
 * times of a tree without overlapping siblings add up to its duration.
 *
 * @module
 */

import type { SpanData } from "../types.ts";
import { waitsFor } from "./semantics.ts";

/** From a start to an end, both in milliseconds; the end is never earlier. */
export type Interval = readonly [start: number, end: number];

/** The part of a span that its own time on the clock needs. */
export type Timed = Pick<SpanData, "startTime" | "endTime" | "attributes">;

/** A span, as far as {@linkcode selfTimes} reads it. */
export type TimedSpan =
  & Timed
  & Pick<SpanData, "id" | "parentId" | "duration">;

/** The summed length of intervals that don't overlap. */
export function totalLength(intervals: readonly Interval[]): number {
  let total = 0;
  for (const [start, end] of intervals) total += end - start;
  return total;
}

/**
 * When a span ran and none of the children it waits for did.
 *
 * @param children In order of their start.
 */
export function selfSegments(
  span: Timed,
  children: readonly Timed[],
): Interval[] {
  const { startTime, endTime } = span;
  const segments: Interval[] = [];
  const add = (from: number, to: number) => {
    if (to > from) segments.push([from, to]);
  };
  let reach = startTime;
  for (const child of children) {
    if (child.endTime <= Math.max(child.startTime, reach)) continue;
    if (!waitsFor(span, child)) continue;
    add(reach, Math.min(child.startTime, endTime));
    reach = child.endTime;
  }
  add(reach, endTime);
  return segments;
}

/**
 * The self time of a span in milliseconds. Without children it is the duration
 * as it was recorded, which comes from a finer clock than start and end.
 *
 * @param children In order of their start.
 */
export function selfTime(
  span: Timed & Pick<SpanData, "duration">,
  children: readonly Timed[] | undefined,
): number {
  return children?.length
    ? totalLength(selfSegments(span, children))
    : Math.max(0, span.duration);
}

/** The self time of each span in milliseconds, in the order given. */
export function selfTimes(spans: readonly TimedSpan[]): number[] {
  const children = Map.groupBy(inOrderOfStart(spans), (span) => span.parentId);
  return spans.map((span) => selfTime(span, children.get(span.id)));
}

/** The same list if it is sorted already, as it nearly always is. */
function inOrderOfStart(spans: readonly TimedSpan[]): readonly TimedSpan[] {
  let last = -Infinity;
  for (const span of spans) {
    if (span.startTime < last) {
      return spans.toSorted((a, b) => a.startTime - b.startTime);
    }
    last = span.startTime;
  }
  return spans;
}
