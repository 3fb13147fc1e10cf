/**
 * Reads OTLP's protobuf messages into the form of OTLP/JSON, and writes the
 * answers. Only requests with protobuf load this file.
 *
 * @module
 */

import { encodeBase64 } from "../../core/bytes/base64.ts";
import { concatBytes, toHex } from "../../core/bytes/bytes.ts";
import { Cursor, WIRE } from "./protobuf_cursor.ts";

/** A field's name and type. The type `AnyValue[]` is a list. */
type FieldRule = readonly [name: string, type: string];

/**
 * The fields that traces use, by message and number (opentelemetry-proto 1.7).
 * Others are skipped. Lower-case types are scalars.
 */
const MESSAGES: Readonly<Record<string, Readonly<Record<number, FieldRule>>>> =
  {
    ExportTraceServiceRequest: { 1: ["resourceSpans", "ResourceSpans[]"] },
    ResourceSpans: {
      1: ["resource", "Resource"],
      2: ["scopeSpans", "ScopeSpans[]"],
    },
    Resource: { 1: ["attributes", "KeyValue[]"] },
    ScopeSpans: { 2: ["spans", "Span[]"] },
    Span: {
      1: ["traceId", "hex"],
      2: ["spanId", "hex"],
      4: ["parentSpanId", "hex"],
      5: ["name", "text"],
      6: ["kind", "uint32"],
      7: ["startTimeUnixNano", "fixed64"],
      8: ["endTimeUnixNano", "fixed64"],
      9: ["attributes", "KeyValue[]"],
      10: ["droppedAttributesCount", "uint32"],
      11: ["events", "Event[]"],
      12: ["droppedEventsCount", "uint32"],
      15: ["status", "Status"],
    },
    Event: {
      1: ["timeUnixNano", "fixed64"],
      2: ["name", "text"],
      3: ["attributes", "KeyValue[]"],
    },
    Status: { 2: ["message", "text"], 3: ["code", "uint32"] },
    ExportLogsServiceRequest: { 1: ["resourceLogs", "ResourceLogs[]"] },
    ResourceLogs: { 2: ["scopeLogs", "ScopeLogs[]"] },
    ScopeLogs: { 2: ["logRecords", "LogRecord[]"] },
    LogRecord: {
      1: ["timeUnixNano", "fixed64"],
      2: ["severityNumber", "uint32"],
      3: ["severityText", "text"],
      5: ["body", "AnyValue"],
      6: ["attributes", "KeyValue[]"],
      9: ["traceId", "hex"],
      10: ["spanId", "hex"],
      11: ["observedTimeUnixNano", "fixed64"],
      12: ["eventName", "text"],
    },
    KeyValue: { 1: ["key", "text"], 2: ["value", "AnyValue"] },
    AnyValue: {
      1: ["stringValue", "text"],
      2: ["boolValue", "bool"],
      3: ["intValue", "int64"],
      4: ["doubleValue", "double"],
      5: ["arrayValue", "ArrayValue"],
      6: ["kvlistValue", "KeyValueList"],
      7: ["bytesValue", "base64"],
    },
    ArrayValue: { 1: ["values", "AnyValue[]"] },
    KeyValueList: { 1: ["values", "KeyValue[]"] },
  };

/** How a field is read. */
interface FieldReader {
  readonly name: string;
  readonly isList: boolean;
  /** Its wire type. */
  readonly wire: number;
  readonly read: (from: Cursor, depth: number) => unknown;
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** JSON has 64-bit integers, `NaN` and bytes as text. */
const SCALARS: Readonly<Record<string, Pick<FieldReader, "wire" | "read">>> = {
  uint32: { wire: WIRE.varint, read: (from) => from.varint().low },
  int64: { wire: WIRE.varint, read: (from) => from.int64() },
  bool: { wire: WIRE.varint, read: (from) => from.int64() !== "0" },
  fixed64: { wire: WIRE.fixed64, read: (from) => from.fixed64() },
  double: { wire: WIRE.fixed64, read: readDouble },
  // Invalid UTF-8 becomes U+FFFD, as in cut values.
  text: { wire: WIRE.bytes, read: (from) => decoder.decode(from.bytes()) },
  hex: { wire: WIRE.bytes, read: (from) => toHex(from.bytes()) },
  base64: { wire: WIRE.bytes, read: (from) => encodeBase64(from.bytes()) },
};

const READERS = new Map(
  Object.entries(MESSAGES).map(([message, fields]) => [
    message,
    new Map(
      Object.entries(fields).map(([number, field]) => [
        Number(number),
        readerOf(field),
      ]),
    ),
  ]),
);

function readerOf([name, type]: FieldRule): FieldReader {
  const isList = type.endsWith("[]");
  const single = isList ? type.slice(0, -2) : type;
  const scalar = SCALARS[single];
  if (scalar !== undefined) return { name, isList, ...scalar };
  const read = (from: Cursor, depth: number) =>
    from.within(() => readMessage(from, single, depth + 1));
  return { name, isList, wire: WIRE.bytes, read };
}

/**
 * The maximum depth of messages in each other, which are read recursively. It
 * exceeds the depth that the reader of the JSON form accepts.
 */
const MAX_DEPTH = 256;

/**
 * Reads a request in protobuf.
 *
 * @returns The request in the form of OTLP/JSON.
 * @throws {TypeError} If the bytes aren't protobuf.
 */
export function decodeRequest(
  bytes: Uint8Array<ArrayBuffer>,
  type: "ExportTraceServiceRequest" | "ExportLogsServiceRequest",
): unknown {
  return readMessage(new Cursor(bytes), type, 0);
}

function readMessage(
  from: Cursor,
  type: string,
  depth: number,
): Record<string, unknown> {
  if (depth > MAX_DEPTH) from.fail(`messages nested at most ${MAX_DEPTH} deep`);
  const readers = READERS.get(type)!;
  // Writers leave out an empty key, but the reader of the JSON form needs it.
  let message: Record<string, unknown> = type === "KeyValue" ? { key: "" } : {};
  while (!from.isAtEnd) {
    const { number, wire } = from.tag();
    const reader = readers.get(number);
    if (reader === undefined || reader.wire !== wire) {
      from.skip(wire);
      continue;
    }
    const { name, isList } = reader;
    const value = reader.read(from, depth);
    // Only one field of this message can be set. The last one counts.
    if (type === "AnyValue") message = {};
    if (isList) ((message[name] ??= []) as unknown[]).push(value);
    else message[name] = value;
  }
  return message;
}

function readDouble(from: Cursor): number | string {
  const value = from.double();
  return Number.isFinite(value) ? value : String(value);
}

/** Writes a `google.rpc.Status`. */
export function encodeStatus(
  code: number,
  message: string,
): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(message);
  return concatBytes([
    Uint8Array.of(1 << 3 | WIRE.varint, ...varint(code)),
    Uint8Array.of(2 << 3 | WIRE.bytes, ...varint(text.length)),
    text,
  ]);
}

/** Writes a response whose `partial_success` counts rejected items. */
export function encodePartialSuccess(
  rejected: number,
  message: string,
): Uint8Array<ArrayBuffer> {
  // Its fields have the numbers and types of a status.
  const note = encodeStatus(rejected, message);
  return concatBytes([
    Uint8Array.of(1 << 3 | WIRE.bytes, ...varint(note.length)),
    note,
  ]);
}

/** Returns the bytes of a whole number below 2³¹. */
function varint(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  for (; rest > 0x7f; rest >>>= 7) bytes.push(rest & 0x7f | 0x80);
  return [...bytes, rest];
}
