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
import { linksOf } from "./links.ts";
import { metadataOf } from "./semantics.ts";

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
  const traceOf = unite(loose.map(({ span }) => ({ ...span, children: [] })));
  const traces = Map.groupBy(loose, ({ span }) => traceOf(span.traceId));
  return Array.from(traces.values(), (items) => {
    const marked = items.filter(({ metadata }) => metadata !== undefined);
    const [first] = marked;
    const known = marked.every(({ span }) => span.id === first!.span.id)
      ? first
      : undefined;
    const trace = joinSpans(
      items.map(({ span }) => ({ ...span, children: [] })),
      { rootSpanId: known?.span.id },
    );
    const metadata = marked.find(({ span }) => span.id === trace.rootSpanId)
      ?.metadata;
    return metadata === undefined ? trace : { ...trace, metadata };
  });
}

/** Returns a function that maps the ids of linked traces to one of them. */
function unite(spans: readonly SpanData[]): (traceId: string) => string {
  const above = new Map<string, string>();
  const find = (id: string): string => {
    let top = id;
    for (let at = above.get(id); at !== undefined; at = above.get(at)) top = at;
    // Makes the next search short.
    while (id !== top) {
      const next = above.get(id)!;
      above.set(id, top);
      id = next;
    }
    return top;
  };
  const tops = topsOf(spans);
  const claimed = new Set<string>();
  for (const from of spans) {
    for (const { traceId, spanId } of linksOf(from)) {
      const isFree = tops.has(`${traceId}-${spanId}`) && !claimed.has(traceId);
      if (!isFree || find(traceId) === find(from.traceId)) continue;
      claimed.add(traceId);
      above.set(find(traceId), find(from.traceId));
    }
  }
  return find;
}

/** Returns the ids of the spans without a known parent. */
function topsOf(spans: readonly SpanData[]): Set<string> {
  const known = new Set(spans.map(({ traceId, id }) => `${traceId}-${id}`));
  const tops = spans.filter(({ traceId, parentId }) =>
    !known.has(`${traceId}-${parentId}`)
  );
  return new Set(tops.map(({ traceId, id }) => `${traceId}-${id}`));
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
  const root = findRoot(spans)!;
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
 */
export function findRoot(spans: readonly SpanData[]): SpanData | undefined {
  const ids = new Set(spans.map((span) => span.id));
  const rank = ({ parentId }: SpanData): number =>
    parentId === null ? 0 : ids.has(parentId) ? 2 : 1;
  let root: SpanData | undefined;
  for (const span of spans) {
    if (root === undefined) root = span;
    const order = rank(span) - rank(root) || span.startTime - root.startTime;
    if (order < 0) root = span;
  }
  return root;
}
