import { checkValue } from "../core/check/options.ts";
import { anArrayOf, rule } from "../core/check/rules.ts";
import { Field } from "./export/otlp_value.ts";
import { LAYERS, STATUSES } from "./export/semantics.ts";
import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  SpanEvent,
  TraceData,
  TraceMetadata,
} from "./types.ts";

const FIX = "as in tracer.getTraces().map(serializeTrace)";
const aTrace = rule(
  `one trace, ${FIX}`,
  (value) => typeof Object(value).spans?.values === "function",
);
const isList = (value: unknown) => Array.isArray(Object(value).spans);
const someTraces = anArrayOf(`serialized traces, ${FIX}`, rule("", isList));

/**
 * Checks the traces that an exporter got.
 *
 * @throws {TypeError} If they aren't serialized traces.
 */
export function checkSerialized(traces: unknown, operation: string): void {
  checkValue(traces, "traces", someTraces, operation);
}

/**
 * Returns a trace as plain JSON.
 *
 * @param trace A trace of a tracer.
 * @returns The same record with its spans as a list.
 * @throws {TypeError} If it isn't a trace.
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
  checkValue(trace, "trace", aTrace, "serialize trace");
  return { ...trace, spans: [...trace.spans.values()] };
}

/**
 * Returns the trace from its JSON. Values of a wrong type are refused, and
 * unknown fields are ignored.
 *
 * @param value The result of {@linkcode serializeTrace}, or its JSON text.
 * @throws {TypeError} If it isn't a trace. The message names the field and the
 * problem.
 */
export function deserializeTrace(value: unknown): TraceData {
  const trace = new Field(
    typeof value === "string" ? parse(value) : value,
    "trace",
  );
  const spans = new Map<string, SpanData>();
  for (const field of trace.get("spans").items()) {
    const span = readSpan(field);
    if (spans.has(span.id)) field.get("id").fail("unique");
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

type Read<T> = (field: Field) => T;

const text: Read<string> = (field) => field.text();
const number: Read<number> = (field) => field.number();
const oneOf = <T extends string>(choices: readonly T[]): Read<T> => (field) =>
  field.oneOf(choices);
const listOf = <T>(read: Read<T>): Read<T[]> => (field) =>
  field.items().map((item) => read(item));
const optional = <T>(read: Read<T>): Read<T | undefined> => (field) =>
  field.value === undefined ? undefined : read(field);

/** Returns a reader of records with these fields. Absent fields stay absent. */
function recordOf<T>(
  fields: { readonly [K in keyof T]-?: Read<T[K] | undefined> },
): Read<T> {
  const keys = Object.keys(fields) as (keyof T & string)[];
  return (field) => {
    const record: Partial<T> = {};
    for (const key of keys) {
      const value = fields[key](field.get(key));
      if (value !== undefined) record[key] = value;
    }
    return record as T;
  };
}

const attributes: Read<Record<string, AttributeValue>> = (field) => {
  const entries = Object.entries(field.record());
  for (const [key, value] of entries) {
    if (["string", "number", "boolean"].includes(typeof value)) continue;
    field.get(key).fail("a string, number or boolean");
  }
  // Unlike an assignment, this treats `__proto__` like any other key.
  return Object.fromEntries(entries) as Record<string, AttributeValue>;
};

const TIMES = { startTime: number, endTime: number, duration: number };

const readTimes = recordOf<Pick<SpanData, keyof typeof TIMES>>(TIMES);

const readSpan = recordOf<SpanData>({
  id: text,
  traceId: text,
  parentId: (field) => field.value === null ? null : field.text(),
  name: text,
  layer: oneOf(LAYERS),
  status: oneOf(STATUSES),
  ...TIMES,
  attributes,
  events: listOf(recordOf<SpanEvent>({
    name: text,
    time: number,
    attributes: optional(attributes),
  })),
  children: listOf(text),
  droppedAttributes: optional(number),
  droppedEvents: optional(number),
});

const readMetadata = recordOf<TraceMetadata>({
  origin: oneOf<"server" | "client">(["server", "client"]),
  method: optional(text),
  pathname: optional(text),
  statusCode: optional(number),
  routePattern: optional(text),
  droppedSpans: optional(number),
  run: optional(number),
});

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new TypeError("Cannot read trace: the text is not JSON");
  }
}
