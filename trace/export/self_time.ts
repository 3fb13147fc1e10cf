/**
 * Self time: the time that a span ran while none of the children it waits for
 * ran.
 *
 * It is the span's duration minus the union of its children's intervals,
 * clipped to the span. So parallel children count once. A child that outlives
 * its parent only counts until the parent's end. Without overlapping siblings,
 * the self times of a tree add up to its duration.
 *
 * @module
 */

import type { SpanData } from "../types.ts";
import { waitsFor } from "./semantics.ts";

/** A start and an end, both in milliseconds. The end is never earlier. */
export type Interval = readonly [start: number, end: number];

/** The part of a span that its interval needs. */
export type Timed = Pick<SpanData, "startTime" | "endTime" | "attributes">;

/** Returns the total length of intervals that don't overlap. */
export function totalLength(intervals: readonly Interval[]): number {
  return intervals.reduce((total, [start, end]) => total + (end - start), 0);
}

/**
 * Returns the intervals when a span ran and waited for no child.
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
 * Returns the self time of a span in milliseconds. Without children, this is
 * the recorded duration, which is more precise than start and end.
 *
 * @param children In order of their start.
 */
export function selfTime(
  span: Timed & Pick<SpanData, "duration">,
  children: readonly Timed[],
): number {
  return children.length > 0
    ? totalLength(selfSegments(span, children))
    : Math.max(0, span.duration);
}

/** Returns the self time of each span in milliseconds, in the given order. */
export function selfTimes(spans: readonly SpanData[]): number[] {
  const sorted = spans.toSorted((a, b) => a.startTime - b.startTime);
  const children = Map.groupBy(sorted, (span) => span.parentId);
  return spans.map((span) => selfTime(span, children.get(span.id) ?? []));
}
