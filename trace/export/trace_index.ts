import type {
  Layer,
  SerializedTrace,
  SpanData,
  TraceMetadata,
} from "../types.ts";
import { withDescendants } from "./descendants.ts";
import { isDetached, LAYERS } from "./semantics.ts";
import { selfTimes } from "./self_time.ts";
import { factsOf, type TraceFacts } from "./trace_facts.ts";

/** The metadata of a trace's request. */
type RequestMetadata = Omit<TraceMetadata, "origin" | "droppedSpans" | "run">;

/** The totals of a trace's spans. */
interface Totals {
  /** The name of the root span. */
  readonly name: string;
  /** The number of its spans. */
  readonly spanCount: number;
  /** The number of its spans with another status than `ok`. */
  readonly errorCount: number;
  /**
   * The self time of each layer with a span, in milliseconds to the
   * microsecond, the longest first.
   */
  readonly layers: readonly (readonly [Layer, number])[];
}

/** The row of a trace in a list, without its spans. */
export interface TraceIndexEntry
  extends
    Pick<SerializedTrace, "id" | "rootSpanId" | "startTime" | "duration">,
    Totals,
    RequestMetadata,
    TraceFacts {}

/**
 * Sums up a trace for a list.
 *
 * @example
 * ```ts
 * import { indexTrace } from "./trace_index.ts";
 *
 * const span = {
 *   id: "00f067aa0ba902b7",
 *   traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
 *   parentId: null,
 *   name: "GET /",
 *   layer: "request",
 *   status: "ok",
 *   startTime: 1_760_000_000_000,
 *   endTime: 1_760_000_000_012,
 *   duration: 12,
 *   attributes: {},
 *   events: [],
 *   children: [],
 * } as const;
 * const entry = indexTrace({
 *   id: span.traceId,
 *   rootSpanId: span.id,
 *   startTime: span.startTime,
 *   endTime: span.endTime,
 *   duration: span.duration,
 *   spans: [span],
 *   metadata: { origin: "server", method: "GET", pathname: "/" },
 * });
 * console.assert(entry.name === "GET /" && entry.layers[0]?.[1] === 12);
 * ```
 */
export function indexTrace(trace: SerializedTrace): TraceIndexEntry {
  const { id, rootSpanId, startTime, duration, metadata } = trace;
  return {
    id,
    rootSpanId,
    startTime,
    duration,
    ...totalsOf(trace),
    ...requestOf(metadata),
    ...factsOf(trace),
  };
}

/** Returns the totals of a trace's spans. */
export function totalsOf({ rootSpanId, spans }: SerializedTrace): Totals {
  const root = spans.find(({ id }) => id === rootSpanId) ?? spans[0];
  return {
    name: root?.name ?? "",
    spanCount: spans.length,
    errorCount: spans.filter(({ status }) => status !== "ok").length,
    layers: layerTimes(spans),
  };
}

/** Returns the metadata that an index entry has. */
export function requestOf(
  { origin: _, droppedSpans: _1, run: _2, ...request }: TraceMetadata,
): RequestMetadata {
  return request;
}

function layerTimes(spans: readonly SpanData[]): [Layer, number][] {
  const self = selfTimes(spans);
  // Long-lived work doesn't count in the total.
  const detached = withDescendants(spans.filter(isDetached), spans);
  const sums = new Map<Layer, number>();
  spans.forEach(({ id, layer }, i) => {
    const time = detached.has(id) ? 0 : self[i] ?? 0;
    sums.set(layer, (sums.get(layer) ?? 0) + time);
  });
  return LAYERS
    .filter((layer) => sums.has(layer))
    .map((layer): [Layer, number] => [layer, roundTime(sums.get(layer) ?? 0)])
    .sort((a, b) => b[1] - a[1]);
}

function roundTime(time: number): number {
  return Math.round(time * 1000) / 1000;
}
