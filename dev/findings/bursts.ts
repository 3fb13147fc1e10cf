import type { SpanData } from "../../trace/types.ts";

/**
 * The longest pause within a burst, in milliseconds. Code that polls waits
 * longer.
 */
const PAUSE = 250;

/** Returns the largest group of spans that run without a long pause. */
export function largestBurst(spans: readonly SpanData[]): SpanData[] {
  let largest: SpanData[] = [];
  let burst: SpanData[] = [];
  let end = -Infinity;
  for (const span of spans.toSorted((a, b) => a.startTime - b.startTime)) {
    if (span.startTime - end > PAUSE) burst = [];
    burst.push(span);
    end = Math.max(end, span.endTime);
    if (burst.length > largest.length) largest = burst;
  }
  return largest;
}

/** Returns the spans that begin after the one before has ended. */
export function sequenceOf(spans: readonly SpanData[]): SpanData[] {
  let end = -Infinity;
  return spans.toSorted((a, b) => a.startTime - b.startTime).filter((span) => {
    if (span.startTime < end) return false;
    end = span.endTime;
    return true;
  });
}
