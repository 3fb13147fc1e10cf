/**
 * OTLP/JSON as defined by OpenTelemetry: opentelemetry-proto 1.7, compiled by
 * OpenTelemetry for JavaScript. Release 0.216 is the last that includes the
 * definitions of traces.
 *
 * @module
 */

import definitions from "@opentelemetry/otlp-transformer/build/src/generated/root.js";
import { assertEquals } from "@std/assert";
import type { OTLPTraces } from "@quartet/kit/trace";

/** A message of protobuf, as compiled by protobufjs. */
interface MessageType {
  fromObject(object: unknown): object;
  verify(message: object): string | null;
  encode(message: object): { finish(): Uint8Array };
  decode(bytes: Uint8Array): object;
  toObject(message: object, options: object): unknown;
}

// The package declares no more types than this.
const { ExportTraceServiceRequest } = (definitions as unknown as {
  opentelemetry: {
    proto: {
      collector: {
        trace: { v1: { ExportTraceServiceRequest: MessageType } };
      };
    };
  };
}).opentelemetry.proto.collector.trace.v1;

/**
 * Converts a request to protobuf bytes and back, and rejects everything that
 * comes back in another form: unknown or misspelled fields, enums by name,
 * 64-bit integers as numbers, wrong types, ids that aren't hexadecimal. A
 * collector must ignore unknown fields, so it wouldn't detect these.
 */
export function decodeStrictly(json: string): OTLPTraces {
  const given: unknown = JSON.parse(json);
  const bytes = encodeTraces(given);
  const decoded = ExportTraceServiceRequest.toObject(
    ExportTraceServiceRequest.decode(bytes),
    { longs: String, json: true },
  );
  const traces = mapIds(decoded, toHex);
  assertEquals(
    traces,
    withoutEmptyLists(given),
    "it must conform to OTLP/JSON",
  );
  return traces as OTLPTraces;
}

/** Encodes a request in the form of OTLP/JSON as protobuf. */
export function encodeTraces(request: unknown): Uint8Array<ArrayBuffer> {
  const message = ExportTraceServiceRequest.fromObject(
    mapIds(request, toBytes),
  );
  assertEquals(ExportTraceServiceRequest.verify(message), null);
  // A copy, because the result is part of a larger buffer.
  return new Uint8Array(ExportTraceServiceRequest.encode(message).finish());
}

const IDS = ["traceId", "spanId", "parentSpanId"];

/**
 * Maps ids: they are hexadecimal in OTLP/JSON, but base64 in protobuf's JSON.
 */
function mapIds(value: unknown, map: (id: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => mapIds(item, map));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      IDS.includes(key) ? map(item) : mapIds(item, map),
    ]),
  );
}

function toBytes(id: unknown): Uint8Array {
  return Uint8Array.fromHex(id as string);
}

function toHex(id: unknown): string {
  return new Uint8Array(id as Uint8Array).toHex();
}

/** Removes empty lists: protobuf doesn't distinguish them from absent ones. */
function withoutEmptyLists(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmptyLists);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => !(Array.isArray(item) && item.length === 0))
      .map(([key, item]) => [key, withoutEmptyLists(item)]),
  );
}
