import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  SpanEvent,
} from "../types.ts";
import { Field, fromUnixNano, readKeyValues } from "./otlp_value.ts";
import { isLayer, layerOf, OWN, parseMetadata } from "./semantics.ts";
import { assembleTraces, type LooseSpan } from "./trace_assembler.ts";

/** The semantic conventions' name for a status message outside of OTLP. */
const STATUS_DESCRIPTION = "otel.status_description";

/**
 * Reads traces from OTLP/JSON: one parsed request, or an array with the parsed
 * lines of a file. Unknown fields are ignored.
 *
 * Spans from {@linkcode toOTLP} come back unchanged, with four exceptions.
 * Traces with the same id, and those that their spans link to, become one trace.
 * Durations become the difference of start and end. Half surrogate pairs become
 * U+FFFD. Traces, and spans with the same start, follow the order of their
 * services. Spans of other libraries get their layer and metadata from the
 * semantic conventions, and the name of their service as an attribute.
 *
 * @param value The result of `JSON.parse`.
 * @returns The traces, in order of their first span.
 * @throws {TypeError} If the value isn't OTLP; the message says where.
 *
 * @example
 * ```ts
 * import { fromOTLP } from "@quartet/kit/trace";
 *
 * const traces = fromOTLP({
 *   resourceSpans: [{
 *     scopeSpans: [{
 *       spans: [{
 *         traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
 *         spanId: "00f067aa0ba902b7",
 *         name: "SELECT countries",
 *         kind: 3,
 *         startTimeUnixNano: "1760000000000000000",
 *         endTimeUnixNano: "1760000000000250000",
 *         attributes: [
 *           { key: "db.system.name", value: { stringValue: "sqlite" } },
 *         ],
 *       }],
 *     }],
 *   }],
 * });
 * console.assert(traces[0]?.spans[0]?.layer === "database");
 * console.assert(traces[0]?.duration === 0.25);
 * ```
 */
export function fromOTLP(value: unknown): SerializedTrace[] {
  const loose = Array.from(eachSpan(value), (read) => read());
  return assembleTraces(loose);
}

/**
 * Yields a function for each span, which reads it. So a caller can go on after a
 * malformed span.
 *
 * @param ifAbsent Pass an empty list to accept a request without a list of spans.
 * OTLP leaves out empty fields.
 * @throws {TypeError} If the value isn't OTLP. A function throws it if its span
 * is malformed.
 */
export function* eachSpan(
  value: unknown,
  ifAbsent?: [],
): Generator<() => LooseSpan> {
  const document = new Field(value, "OTLP");
  const requests = Array.isArray(value) ? document.items() : [document];
  for (const request of requests) {
    for (const resource of request.get("resourceSpans").items(ifAbsent)) {
      const service = readService(resource.get("resource"));
      for (const scope of resource.get("scopeSpans").items([])) {
        for (const span of scope.get("spans").items([])) {
          yield () => readSpan(span, service);
        }
      }
    }
  }
}

function readService(resource: Field): AttributeValue | undefined {
  return resource.isAbsent
    ? undefined
    : readKeyValues(resource.get("attributes"))["service.name"];
}

function readSpan(
  field: Field,
  service: AttributeValue | undefined,
): LooseSpan {
  const startTime = readTime(field.get("startTimeUnixNano"));
  const end = field.get("endTimeUnixNano");
  const endTime = Math.max(startTime, end.isAbsent ? 0 : readTime(end));
  const events = field.get("events").items([])
    .map((event) => readEvent(event, startTime));
  const all = readKeyValues(field.get("attributes"));
  const {
    [OWN.layer]: layer,
    [OWN.status]: status,
    [OWN.trace]: trace,
    ...others
  } = all;
  // Another library may use the name of the layer for something else.
  const isOurs = isLayer(layer);
  const attributes = isOurs ? others : all;
  if (!isOurs && service !== undefined) attributes["service.name"] ??= service;
  const failed = readFailed(field.get("status"), events, attributes, isOurs);
  const isTimeout = isOurs && status === "timeout";
  const metadata = isOurs ? parseMetadata(trace) : undefined;
  // Enums are integers in OTLP, but some tools write protobuf's own JSON.
  const { value: kind } = field.get("kind");
  const isServer = kind === 2 || kind === "SPAN_KIND_SERVER";
  const droppedAttributes = readCount(field.get("droppedAttributesCount"));
  const droppedEvents = readCount(field.get("droppedEventsCount"));
  const span: Omit<SpanData, "children"> = {
    id: readId(field.get("spanId"), 16),
    traceId: readId(field.get("traceId"), 32),
    parentId: readOptionalId(field.get("parentSpanId"), 16) ?? null,
    name: field.get("name").text(""),
    layer: isOurs ? layer : layerOf(isServer, attributes),
    status: !failed ? "ok" : isTimeout ? "timeout" : "error",
    startTime,
    endTime,
    duration: endTime - startTime,
    attributes,
    events,
    ...(droppedAttributes !== undefined && { droppedAttributes }),
    ...(droppedEvents !== undefined && { droppedEvents }),
  };
  return { span, isOurs, metadata, service };
}

function readEvent(field: Field, spanStart: number): SpanEvent {
  const time = field.get("timeUnixNano");
  const attributes = field.get("attributes");
  return {
    name: field.get("name").text(""),
    time: time.isAbsent ? spanStart : readTime(time),
    ...(!attributes.isAbsent && { attributes: readKeyValues(attributes) }),
  };
}

/**
 * Whether the span failed. Its message becomes an attribute, unless it is ours
 * or an exception event has it.
 */
function readFailed(
  status: Field,
  events: readonly SpanEvent[],
  attributes: Record<string, AttributeValue>,
  isOurs: boolean,
): boolean {
  if (status.isAbsent) return false;
  const { value: code } = status.get("code");
  if (code !== 2 && code !== "STATUS_CODE_ERROR") return false;
  const message = status.get("message").text("");
  const isKnown = message === "" || isOurs ||
    events.some((event) => event.attributes?.["exception.message"] === message);
  if (!isKnown) attributes[STATUS_DESCRIPTION] ??= message;
  return true;
}

function readId(field: Field, digits: number): string {
  const { value } = field;
  const isId = typeof value === "string" && value.length === digits &&
    /^[\da-f]+$/i.test(value) && !/^0+$/.test(value);
  return field.expect<string>(`${digits} hexadecimal digits, not all 0`, isId)
    .toLowerCase();
}

/** Reads an id. `undefined` for none, which is empty or all 0. */
export function readOptionalId(
  field: Field,
  digits: number,
): string | undefined {
  return /^0*$/.test(field.text("")) ? undefined : readId(field, digits);
}

/** Reads the number of dropped items. `undefined` for none. */
function readCount(field: Field): number | undefined {
  const isCount = Number.isInteger(field.value) && field.value as number >= 0;
  return field.expect("a whole number from 0", isCount, 0) || undefined;
}

/** Reads decimal nanoseconds as milliseconds. */
export function readTime(field: Field): number {
  const { value } = field;
  const isTime = (typeof value === "number" || typeof value === "string") &&
    /^\d{1,20}$/.test(String(value));
  const expected = "nanoseconds since 1970 in decimal";
  return fromUnixNano(String(field.expect(expected, isTime)));
}
