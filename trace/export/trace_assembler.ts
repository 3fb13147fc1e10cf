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
  TraceMetadata,
} from "../types.ts";

/** A span from a file, with its information about its trace. */
export interface LooseSpan {
  readonly span: Omit<SpanData, "children">;
  /** Whether the kit wrote it, so that its position is right. */
  readonly isOurs: boolean;
  /** The trace's metadata, if the span is marked as the root. */
  readonly metadata?: TraceMetadata;
  /** The name of its service, if the file says it. */
  readonly service?: AttributeValue;
}

/**
 * Sorts spans into traces, in order of each trace's first span. A repeated
 * span, such as after an exporter's retry, counts once. Cycles of parents are
 * cut, so that the spans form trees.
 *
 * @param metadataOf Finds the metadata of a trace from its root span.
 */
export function assembleTraces(
  loose: readonly LooseSpan[],
  metadataOf: (root: SpanData) => TraceMetadata,
): SerializedTrace[] {
  const traces = new Map<string, Map<string, LooseSpan>>();
  for (const item of loose) {
    const { id, traceId } = item.span;
    let trace = traces.get(traceId);
    if (trace === undefined) traces.set(traceId, trace = new Map());
    if (!trace.has(id)) trace.set(id, item);
  }
  return Array.from(
    traces.values(),
    (items) => assemble([...items.values()], metadataOf),
  );
}

function assemble(
  items: readonly LooseSpan[],
  metadataOf: (root: SpanData) => TraceMetadata,
): SerializedTrace {
  const sorted = items.every(({ isOurs }) => isOurs)
    ? items
    : items.toSorted((a, b) => a.span.startTime - b.span.startTime);
  const children = new Map<string, string[]>(
    sorted.map(({ span }) => [span.id, []]),
  );
  const spans = withoutCycles(sorted.map(({ span }): SpanData => ({
    ...span,
    children: children.get(span.id) ?? [],
  })));
  for (const { id, parentId } of spans) {
    if (parentId !== null) children.get(parentId)?.push(id);
  }
  const marked = sorted.findIndex(({ metadata }) => metadata !== undefined);
  const root = spans[marked] ?? findRoot(spans) as SpanData;
  return {
    id: root.traceId,
    rootSpanId: root.id,
    startTime: root.startTime,
    endTime: root.endTime,
    duration: root.duration,
    spans,
    metadata: sorted[marked]?.metadata ?? metadataOf(root),
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

/** Follows the parents of each span until one that was visited. */
function withoutCycles(spans: readonly SpanData[]): SpanData[] {
  const byId = new Map(spans.map((span) => [span.id, span]));
  const climbedFrom = new Map<SpanData, SpanData>();
  const cut = new Set<SpanData>();
  for (const start of spans) {
    let span: SpanData | undefined = start;
    while (span !== undefined && !climbedFrom.has(span)) {
      climbedFrom.set(span, start);
      const parent: SpanData | undefined = byId.get(span.parentId ?? "");
      if (parent !== undefined && climbedFrom.get(parent) === start) {
        cut.add(parent);
      }
      span = parent;
    }
  }
  return spans.map((span) =>
    cut.has(span) ? { ...span, parentId: null } : span
  );
}
