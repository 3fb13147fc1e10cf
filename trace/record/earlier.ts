/**
 * The traces of earlier runs, which the dev command keeps. Other tracers have
 * none.
 *
 * @module
 */

import { linksOf } from "../export/semantics.ts";
import type { RemoteEvent, SpanData, TraceData, Tracer } from "../types.ts";

/** Keeps the traces of earlier runs, and remembers the present ones. */
export interface EarlierTraces {
  /** Returns earlier traces and then the given ones, as far as they fit. */
  before(present: readonly TraceData[]): TraceData[];
  /** Returns the trace with an id, or with a linked id. */
  find(traceId: string): TraceData | undefined;
  /** Removes the trace with an id, which goes on, and returns its spans. */
  take(traceId: string): readonly SpanData[];
  /** Called with spans of browsers and other services that were added. */
  onSpans(spans: readonly SpanData[]): void;
  /** Called with events of other services. */
  onEvents(events: readonly RemoteEvent[]): void;
}

/** The earlier traces of a tracer. */
export const earlierOf = new WeakMap<Tracer, EarlierTraces>();

/** Removes and returns the spans of earlier traces that these spans belong to. */
export function takeEarlier(
  tracer: Tracer,
  spans: readonly SpanData[],
): SpanData[] {
  const earlier = earlierOf.get(tracer);
  if (earlier === undefined) return [];
  const parts = [...spans, ...spans.flatMap(linksOf)];
  const ids = new Set(parts.map(({ traceId }) => traceId));
  return [...ids].flatMap((id) => earlier.take(id));
}
