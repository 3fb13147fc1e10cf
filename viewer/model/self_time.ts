/**
 * Self time: how long a span ran while none of the children it waits for did.
 *
 * It is the span's duration minus the union of its children's intervals,
 * clipped to the span. So children that run at the same time count once, a
 * child that outlives its parent takes nothing from anybody else, and the self
 * times of a tree without overlapping siblings add up to its duration.
 * A span without children takes its duration as it was recorded.
 *
 * @module
 */

import { waitsFor } from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";
import type { Interval } from "./intervals.ts";

/** The part of a span that self time needs. */
export type Timed = Pick<SpanData, "startTime" | "endTime" | "attributes">;

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
