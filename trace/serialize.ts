import { Field } from "./export/field.ts";
import { LAYERS, STATUSES } from "./layers.ts";
import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  SpanEvent,
  TraceData,
  TraceMetadata,
} from "./types.ts";

const ORIGINS = ["server", "client"] as const;

/**
 * Turns a trace into plain JSON.
 *
 * @param trace A trace, as a tracer gives it.
 * @returns The same record with its spans as a list.
 *
 * @example
 * ```ts
 * import { createTracer, deserializeTrace, serializeTrace } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * tracer.withSpan("job", "custom", () => {});
 *
 * const json = JSON.stringify(serializeTrace(tracer.getTraces()[0]!));
 * console.assert(deserializeTrace(json).spans.size === 1);
 * ```
 */
export function serializeTrace(trace: TraceData): SerializedTrace {
  return { ...trace, spans: [...trace.spans.values()] };
}

/**
 * Turns the JSON of a trace back into a trace. Nothing is taken over that is
 * not of the right shape; fields it does not know are left out.
 *
 * @param value What {@linkcode serializeTrace} gave, or its JSON text.
 * @throws {TypeError} If it is not a trace; the message says where and why.
 */
export function deserializeTrace(value: unknown): TraceData {
  const trace = new Field(
    typeof value === "string" ? parse(value) : value,
    "trace",
  );
  const spans = new Map<string, SpanData>();
  for (const field of trace.get("spans").items()) {
    const span = readSpan(field);
    if (spans.has(span.id)) {
      field.get("id").fail("unlike that of the spans before");
    }
    spans.set(span.id, span);
  }
  const rootSpanId = trace.get("rootSpanId");
  if (!spans.has(rootSpanId.text())) {
    rootSpanId.fail("the id of one of the spans");
  }
  return {
    id: trace.get("id").text(),
    rootSpanId: rootSpanId.text(),
    ...readTimes(trace),
    spans,
    metadata: readMetadata(trace.get("metadata")),
  };
}

function readSpan(span: Field): SpanData {
  const parentId = span.get("parentId");
  return {
    id: span.get("id").text(),
    traceId: span.get("traceId").text(),
    parentId: parentId.value === null ? null : parentId.text(),
    name: span.get("name").text(),
    layer: span.get("layer").oneOf(LAYERS),
    status: span.get("status").oneOf(STATUSES),
    ...readTimes(span),
    attributes: readAttributes(span.get("attributes")),
    events: span.get("events").items().map(readEvent),
    children: span.get("children").items().map(readText),
    ...optional(span, "droppedAttributes", readNumber),
    ...optional(span, "droppedEvents", readNumber),
  };
}

function readTimes(
  field: Field,
): Pick<SpanData, "startTime" | "endTime" | "duration"> {
  return {
    startTime: field.get("startTime").number(),
    endTime: field.get("endTime").number(),
    duration: field.get("duration").number(),
  };
}

function readEvent(event: Field): SpanEvent {
  return {
    name: event.get("name").text(),
    time: event.get("time").number(),
    ...optional(event, "attributes", readAttributes),
  };
}

function readAttributes(field: Field): Record<string, AttributeValue> {
  const entries = Object.entries(field.record());
  for (const [key, value] of entries) {
    if (!["string", "number", "boolean"].includes(typeof value)) {
      field.get(key).fail("a string, number or boolean");
    }
  }
  // Unlike assignment, this takes a key called __proto__ for what it is.
  return Object.fromEntries(entries) as Record<string, AttributeValue>;
}

function readMetadata(metadata: Field): TraceMetadata {
  return {
    origin: metadata.get("origin").oneOf(ORIGINS),
    ...optional(metadata, "method", readText),
    ...optional(metadata, "pathname", readText),
    ...optional(metadata, "statusCode", readNumber),
    ...optional(metadata, "routePattern", readText),
    ...optional(metadata, "droppedSpans", readNumber),
  };
}

function readText(field: Field): string {
  return field.text();
}

function readNumber(field: Field): number {
  return field.number();
}

function optional<K extends string, T>(
  record: Field,
  key: K,
  read: (field: Field) => T,
): { [P in K]?: T } {
  const field = record.get(key);
  if (field.value === undefined) return {};
  return { [key]: read(field) } as { [P in K]: T };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new TypeError("Cannot read trace: the text is not JSON");
  }
}
