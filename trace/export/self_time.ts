import type { SpanData } from "../types.ts";
import { waitsFor } from "./semantics.ts";

/** What {@linkcode selfTimes} needs to know of a span. */
export type TimedSpan = Pick<
  SpanData,
  "id" | "parentId" | "startTime" | "endTime" | "duration" | "attributes"
>;

/**
 * The self time of each span in milliseconds, in the order given: how long it
 * took, less the time during which at least one of its direct children ran.
 * Children that run side by side count once; what a child does after its
 * parent's end doesn't count, nor what a browser does below a server's span.
 *
 * A span without children takes its duration, which comes from a finer clock
 * than start and end.
 *
 * One pass in order of start: behind each span's `reach` nothing new can
 * begin, so covered time is only ever added ahead of it.
 */
export function selfTimes(spans: readonly TimedSpan[]): number[] {
  const places = new Map<string, number>();
  spans.forEach((span, i) => {
    if (!places.has(span.id)) places.set(span.id, i);
  });
  const self = spans.map((span) => Math.max(0, span.endTime - span.startTime));
  const reach = spans.map((span) => span.startTime);
  for (const span of inOrderOfStart(spans)) {
    if (span.parentId === null) continue;
    const place = places.get(span.parentId);
    const parent = place === undefined ? undefined : spans[place];
    if (place === undefined || parent === undefined) continue;
    if (!waitsFor(parent, span)) continue;
    const from = Math.max(span.startTime, reach[place] as number);
    const to = Math.min(span.endTime, parent.endTime);
    if (to <= from) continue;
    self[place] = (self[place] as number) - (to - from);
    reach[place] = to;
  }
  return spans.map(({ startTime, duration }, i) =>
    Math.max(0, reach[i] === startTime ? duration : self[i] as number)
  );
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
