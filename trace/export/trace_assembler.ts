/**
 * Assembles traces from spans in any order and mixture, as in files from other
 * tools. Spans may be incomplete.
 *
 * @module
 */

import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  TraceData,
  TraceMetadata,
} from "../types.ts";
import { joinSpans } from "./join.ts";
import { linksOf, metadataOf } from "./semantics.ts";

/** A span from a file, with its information about its trace. */
export interface LooseSpan {
  readonly span: Omit<SpanData, "children">;
  /** Whether the kit wrote it. */
  readonly isOurs: boolean;
  /** The trace's metadata, if the span is marked as the root. */
  readonly metadata: TraceMetadata | undefined;
  /** The name of its service, if the file says it. */
  readonly service: AttributeValue | undefined;
}

/**
 * Sorts spans into traces, in order of each trace's first span, and joins them.
 * A repeated span, such as after an exporter's retry, counts once. Linked traces
 * become one.
 */
export function assembleTraces(loose: readonly LooseSpan[]): SerializedTrace[] {
  const traceOf = unite(loose.map(({ span }) => span));
  const traces = Map.groupBy(loose, ({ span }) => traceOf(span.traceId));
  return Array.from(traces.values(), (items) => {
    const marked = items.filter(({ metadata }) => metadata !== undefined);
    const rootIds = new Set(marked.map(({ span }) => span.id));
    const trace = joinSpans(
      items.map(({ span }) => ({ ...span, children: [] })),
      { rootSpanId: rootIds.size === 1 ? [...rootIds][0] : undefined },
    );
    const metadata = marked.find(({ span }) => span.id === trace.rootSpanId)
      ?.metadata;
    return metadata === undefined ? trace : { ...trace, metadata };
  });
}

/** Returns a function that maps the ids of linked traces to one of them. */
function unite(
  spans: readonly LooseSpan["span"][],
): (traceId: string) => string {
  const above = new Map<string, string>();
  const find = (id: string): string => {
    let next: string | undefined;
    while ((next = above.get(id)) !== undefined) {
      // Makes the next search short.
      above.set(id, above.get(next) ?? next);
      id = next;
    }
    return id;
  };
  const byId = new Map(
    spans.map((span) => [`${span.traceId}-${span.id}`, span]),
  );
  const claimed = new Set<string>();
  for (const from of spans) {
    for (const { traceId, spanId } of linksOf(from)) {
      const target = byId.get(`${traceId}-${spanId}`);
      const isTop = target !== undefined &&
        !byId.has(`${traceId}-${target.parentId}`);
      if (!isTop || claimed.has(traceId)) continue;
      if (find(traceId) === find(from.traceId)) continue;
      claimed.add(traceId);
      above.set(find(traceId), find(from.traceId));
    }
  }
  return find;
}

/** Returns the key of a record: several records may have one trace id. */
export function keyOf({ id, rootSpanId }: TraceData): string {
  return `${id} ${rootSpanId}`;
}

/** Returns spans as a trace without joining them. */
export function traceOfSpans(
  id: string,
  spans: readonly SpanData[],
): TraceData {
  const root = findRoot(spans);
  const { id: rootSpanId, startTime, endTime, duration } = root;
  return {
    id,
    rootSpanId,
    startTime,
    endTime,
    duration,
    spans: new Map(spans.map((span) => [span.id, span])),
    metadata: metadataOf(root),
  };
}

/**
 * Returns the span that most likely is the root: the earliest span without a
 * parent, or else the earliest one with an unknown parent.
 *
 * @param spans At least one.
 */
export function findRoot(spans: readonly SpanData[]): SpanData {
  const ids = new Set(spans.map((span) => span.id));
  const rank = ({ parentId }: SpanData): number =>
    parentId === null ? 0 : ids.has(parentId) ? 2 : 1;
  const compare = (a: SpanData, b: SpanData) =>
    rank(a) - rank(b) || a.startTime - b.startTime;
  return spans.reduce((root, span) => compare(span, root) < 0 ? span : root);
}
