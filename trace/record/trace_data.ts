/**
 * Derives the public records of a request's spans.
 *
 * @module
 */

import { exceptionOf } from "../export/attributes.ts";
import { metadataOf, OPEN, ORIGIN_ATTRIBUTE } from "../export/semantics.ts";
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
 * Returns the record of one request or job. After its end, it is always the same
 * object.
 */
export function toTraceData(trace: TraceRecord): TraceData {
  if (trace.data !== undefined) return trace.data;
  const data = buildTraceData(trace);
  if (!trace.isRunning) trace.data = data;
  return data;
}

function buildTraceData(trace: TraceRecord): TraceData {
  const { root } = trace;
  const children = new Map<SpanImpl, string[]>();
  const spans = new Map<string, SpanData>();
  for (const span of trace.spans) {
    const below: string[] = [];
    children.set(span, below);
    const data = toSpanData(span, below);
    spans.set(span.id, span.isOpen ? markOpen(data) : data);
    if (span.parent !== null) children.get(span.parent)?.push(span.id);
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

function markOpen(span: SpanData): SpanData {
  return { ...span, attributes: { ...span.attributes, [OPEN]: true } };
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
    attributes: attributesOf(span),
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

/**
 * Returns the attributes of a span. Under the dev command, these include the line
 * of user code that threw its error, or else that opened the span.
 */
function attributesOf(span: SpanImpl): SpanData["attributes"] {
  const values = valuesOf(span);
  const { stack, events = [], trace: { host: { locator } } } = span;
  if (locator === undefined) return values;
  const thrown = exceptionOf({ events })?.attributes?.["exception.stacktrace"];
  // A procedure knows the line of its definition.
  const isKnown = "code.file.path" in values;
  const line =
    (typeof thrown === "string" ? locator.locateError(thrown) : undefined) ??
      (stack && !isKnown ? locator.locate(stack) : undefined);
  return { ...values, ...line };
}

/** Creates the record of a span that ran in a browser. */
export function toClientSpanData(
  traceId: string,
  span: ClientSpanData,
): SpanData {
  return {
    ...span,
    traceId,
    duration: span.endTime - span.startTime,
    attributes: { ...span.attributes, [ORIGIN_ATTRIBUTE]: "client" },
    children: [],
  };
}

function valuesOf(span: SpanImpl): Record<string, AttributeValue> {
  const entries: [string, AttributeValue][] = [];
  for (let item = span.attributes; item !== undefined; item = item.next) {
    entries.push([item.key, item.value]);
  }
  // Unlike an assignment, this treats `__proto__` like any other key.
  return Object.fromEntries(entries);
}
