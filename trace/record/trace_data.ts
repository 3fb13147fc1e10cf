/**
 * Derives the public record of a trace from its spans.
 *
 * @module
 */

import { metadataOf, ORIGIN_ATTRIBUTE } from "../export/semantics.ts";
import type { SpanImpl } from "./span.ts";
import type { TraceRecord } from "./trace_record.ts";
import type {
  AttributeValue,
  ClientSpanData,
  SpanData,
  TraceData,
} from "../types.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * Returns the record of a trace. After the trace's end, it is always the same
 * object.
 */
export function toTraceData(trace: TraceRecord): TraceData {
  if (trace.data !== undefined) return trace.data;
  const data = buildTraceData(trace);
  if (!trace.isRunning) trace.data = data;
  return data;
}

function buildTraceData(trace: TraceRecord): TraceData {
  const { root, clientSpans = [] } = trace;
  const parents = parentsOf(trace, clientSpans);
  const children = new Map<string, string[]>();
  const childrenOf = (id: string) => {
    let ids = children.get(id);
    if (ids === undefined) children.set(id, ids = []);
    return ids;
  };
  let list = trace.spans.map((span) => toSpanData(span, childrenOf(span.id)));
  for (const span of clientSpans) {
    list.push({
      id: span.id,
      traceId: trace.id,
      parentId: parents.get(span.id)!,
      name: span.name,
      layer: span.layer,
      status: span.status,
      startTime: span.startTime,
      endTime: span.endTime,
      duration: span.endTime - span.startTime,
      attributes: { ...span.attributes, [ORIGIN_ATTRIBUTE]: "client" },
      events: span.events,
      children: childrenOf(span.id),
    });
  }
  // The spans of a browser arrive late, even if they began early.
  if (clientSpans.length > 0) {
    list = list.toSorted((a, b) => a.startTime - b.startTime);
  }
  const spans = new Map<string, SpanData>();
  for (const span of list) {
    spans.set(span.id, span);
    if (span.parentId !== null) childrenOf(span.parentId).push(span.id);
  }

  const rootData = spans.get(root.id)!;
  return {
    id: trace.id,
    rootSpanId: root.id,
    startTime: rootData.startTime,
    endTime: rootData.endTime,
    duration: rootData.duration,
    spans,
    metadata: {
      ...metadataOf(rootData),
      ...(trace.droppedSpans > 0 && { droppedSpans: trace.droppedSpans }),
    },
  };
}

/** Creates the record of a span with its children. */
export function toSpanData(
  span: SpanImpl,
  children: readonly string[],
): SpanData {
  const { trace, parent, startedAt } = span;
  const endedAt = span.isOpen ? startedAt : span.endedAt;
  const data: Writable<SpanData> = {
    id: span.id,
    traceId: trace.id,
    parentId: parent === null ? trace.remoteParentId : parent.id,
    name: span.name,
    layer: span.layer,
    status: span.status,
    startTime: trace.origin + startedAt,
    endTime: trace.origin + endedAt,
    duration: endedAt - startedAt,
    attributes: valuesOf(span),
    events: (span.events ?? []).map((event) =>
      event.attributes === undefined
        ? event
        : { ...event, attributes: { ...event.attributes } }
    ),
    children,
  };
  if (span.droppedAttributes > 0) {
    data.droppedAttributes = span.droppedAttributes;
  }
  if (span.droppedEvents > 0) data.droppedEvents = span.droppedEvents;
  return data;
}

function valuesOf(span: SpanImpl): Record<string, AttributeValue> {
  const entries: [string, AttributeValue][] = [];
  for (let item = span.attributes; item !== undefined; item = item.next) {
    entries.push([item.key, item.value]);
  }
  // Unlike an assignment, this treats `__proto__` like any other key.
  return Object.fromEntries(entries);
}

/**
 * Returns the parent of every span. A browser's span with an unknown parent
 * goes below the root, unless it has caused the root: then it has no parent. A
 * cycle of browser spans is cut at its first span.
 */
function parentsOf(
  trace: TraceRecord,
  clientSpans: readonly ClientSpanData[],
): Map<string, string | null> {
  const { root } = trace;
  const parents = new Map<string, string | null>();
  for (const span of trace.spans) {
    parents.set(span.id, span.parent?.id ?? trace.remoteParentId);
  }
  const claimed = new Map(clientSpans.map((span) => [span.id, span.parentId]));
  const aboveRoot = new Set<string>();
  let above = trace.remoteParentId;
  while (above !== null && claimed.has(above) && !aboveRoot.has(above)) {
    aboveRoot.add(above);
    above = claimed.get(above)!;
  }
  for (const { id, parentId } of clientSpans) {
    if (aboveRoot.has(id)) {
      parents.set(id, aboveRoot.has(parentId ?? "") ? parentId : null);
    } else {
      const known = parentId !== null &&
        (parents.has(parentId) || claimed.has(parentId));
      parents.set(id, known ? parentId : root.id);
    }
  }
  for (const { id } of clientSpans) {
    if (isInRing(id, parents)) {
      parents.set(id, aboveRoot.has(id) ? null : root.id);
    }
  }
  return parents;
}

function isInRing(
  start: string,
  parents: ReadonlyMap<string, string | null>,
): boolean {
  let id = parents.get(start);
  for (let steps = 0; steps <= parents.size; steps++) {
    if (id === start) return true;
    if (id === null || id === undefined) return false;
    id = parents.get(id);
  }
  return false;
}
