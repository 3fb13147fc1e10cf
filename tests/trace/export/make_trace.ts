import type {
  SerializedTrace,
  SpanData,
  TraceMetadata,
} from "../../../trace/types.ts";

/** What a test says about a span; the rest doesn't matter to it. */
export interface SpanSketch extends Partial<Omit<SpanData, "children">> {
  /** The place of the parent in the list. */
  readonly under?: number;
}

/** When the traces of tests begin. */
export const START = 1_760_000_000_000;

/** A span id made of a number. */
export function spanId(n: number): string {
  return (n + 1).toString(16).padStart(16, "0");
}

/** A trace of these spans. Times are relative to {@linkcode START}. */
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
