import { LAYERS } from "./layers.ts";
import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  SpanEvent,
  TraceData,
  TraceMetadata,
} from "./types.ts";

const STATUSES = ["ok", "error", "timeout"] as const;
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
  const trace = record(
    typeof value === "string" ? parse(value) : value,
    "trace",
  );
  const spans = new Map<string, SpanData>();
  list(trace.spans, "spans").forEach((item, index) => {
    const span = readSpan(item, `spans[${index}]`);
    if (spans.has(span.id)) {
      fail(`spans[${index}].id`, "unlike that of the spans before", span.id);
    }
    spans.set(span.id, span);
  });
  const rootSpanId = text(trace.rootSpanId, "rootSpanId");
  if (!spans.has(rootSpanId)) {
    fail("rootSpanId", "the id of one of the spans", rootSpanId);
  }
  return {
    id: text(trace.id, "id"),
    rootSpanId,
    startTime: number(trace.startTime, "startTime"),
    endTime: number(trace.endTime, "endTime"),
    duration: number(trace.duration, "duration"),
    spans,
    metadata: readMetadata(trace.metadata),
  };
}

function readSpan(value: unknown, at: string): SpanData {
  const span = record(value, at);
  const { parentId, droppedAttributes, droppedEvents } = span;
  return {
    id: text(span.id, `${at}.id`),
    traceId: text(span.traceId, `${at}.traceId`),
    parentId: parentId === null ? null : text(parentId, `${at}.parentId`),
    name: text(span.name, `${at}.name`),
    layer: oneOf(span.layer, LAYERS, `${at}.layer`),
    status: oneOf(span.status, STATUSES, `${at}.status`),
    startTime: number(span.startTime, `${at}.startTime`),
    endTime: number(span.endTime, `${at}.endTime`),
    duration: number(span.duration, `${at}.duration`),
    attributes: readAttributes(span.attributes, `${at}.attributes`),
    events: list(span.events, `${at}.events`)
      .map((event, index) => readEvent(event, `${at}.events[${index}]`)),
    children: list(span.children, `${at}.children`)
      .map((child, index) => text(child, `${at}.children[${index}]`)),
    ...optional("droppedAttributes", droppedAttributes, at, number),
    ...optional("droppedEvents", droppedEvents, at, number),
  };
}

function readEvent(value: unknown, at: string): SpanEvent {
  const event = record(value, at);
  return {
    name: text(event.name, `${at}.name`),
    time: number(event.time, `${at}.time`),
    ...optional("attributes", event.attributes, at, readAttributes),
  };
}

function readAttributes(
  value: unknown,
  at: string,
): Record<string, AttributeValue> {
  const entries = Object.entries(record(value, at));
  for (const [key, item] of entries) {
    if (!["string", "number", "boolean"].includes(typeof item)) {
      fail(
        `${at}[${JSON.stringify(key)}]`,
        "a string, number or boolean",
        item,
      );
    }
  }
  // Unlike assignment, this takes a key called __proto__ for what it is.
  return Object.fromEntries(entries) as Record<string, AttributeValue>;
}

function readMetadata(value: unknown): TraceMetadata {
  const metadata = record(value, "metadata");
  return {
    origin: oneOf(metadata.origin, ORIGINS, "metadata.origin"),
    ...optional("method", metadata.method, "metadata", text),
    ...optional("pathname", metadata.pathname, "metadata", text),
    ...optional("statusCode", metadata.statusCode, "metadata", number),
    ...optional("routePattern", metadata.routePattern, "metadata", text),
    ...optional("droppedSpans", metadata.droppedSpans, "metadata", number),
  };
}

function optional<K extends string, T>(
  key: K,
  value: unknown,
  at: string,
  read: (value: unknown, at: string) => T,
): { [P in K]?: T } {
  if (value === undefined) return {};
  return { [key]: read(value, `${at}.${key}`) } as { [P in K]: T };
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new TypeError("Cannot read trace: the text is not JSON");
  }
}

function record(value: unknown, at: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return value as Record<string, unknown>;
  }
  fail(at, "an object", value);
}

function list(value: unknown, at: string): unknown[] {
  if (Array.isArray(value)) return value;
  fail(at, "an array", value);
}

function text(value: unknown, at: string): string {
  if (typeof value === "string") return value;
  fail(at, "a string", value);
}

function number(value: unknown, at: string): number {
  if (typeof value === "number" && Number.isFinite(value)) return value;
  fail(at, "a finite number", value);
}

function oneOf<T extends string>(
  value: unknown,
  choices: readonly T[],
  at: string,
): T {
  if (choices.includes(value as T)) return value as T;
  fail(at, `one of ${choices.join(", ")}`, value);
}

function fail(at: string, expected: string, value: unknown): never {
  const received = typeof value === "string"
    ? JSON.stringify(value.slice(0, 100))
    : value === null
    ? "null"
    : Array.isArray(value)
    ? "an array"
    : typeof value === "object"
    ? "an object"
    : String(value);
  throw new TypeError(
    `Cannot read trace: ${at} must be ${expected}, received ${received}`,
  );
}
