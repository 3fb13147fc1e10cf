import type {
  SerializedTrace,
  SpanData,
  TraceMetadata,
} from "../../../trace/types.ts";

/** Fields of a span that matter to a test. The others have defaults. */
export interface SpanSketch extends Partial<Omit<SpanData, "children">> {
  /** Index of the parent in the list. */
  readonly under?: number;
}

/** Start of the tests' traces, in epoch milliseconds. */
export const START = 1_760_000_000_000;

/** Returns a span id for a number. */
export function spanId(n: number): string {
  return (n + 1).toString(16).padStart(16, "0");
}

/** Returns a trace of these spans. Times are relative to {@linkcode START}. */
export function makeTrace(
  sketches: readonly SpanSketch[],
  metadata: TraceMetadata = { origin: "server" },
  id = "4bf92f3577b34da6a3ce929d0e0e4736",
): SerializedTrace {
  const spans = sketches.map((sketch, i): SpanData => {
    const { under, startTime: start = 0, endTime: end = start, ...rest } =
      sketch;
    return {
      id: spanId(i),
      traceId: id,
      parentId: under === undefined ? null : spanId(under),
      name: `span ${i}`,
      layer: "custom",
      status: "ok",
      startTime: START + start,
      endTime: START + end,
      duration: START + end - (START + start),
      attributes: {},
      events: [],
      ...rest,
      children: sketches.flatMap((child, j) =>
        child.under === i ? [spanId(j)] : []
      ),
    };
  });
  const root = spans[0] as SpanData;
  return {
    id,
    rootSpanId: root.id,
    startTime: root.startTime,
    endTime: root.endTime,
    duration: root.duration,
    spans,
    metadata,
  };
}
