/**
 * Packs traces into one compact text and unpacks them again. The layout is
 * drawn in `packed_format.ts`.
 *
 * @module
 */

import type { SerializedTrace } from "../types.ts";
import { encodeBase64 } from "./base64.ts";
import { ByteWriter } from "./byte_writer.ts";
import { gzip } from "./gzip.ts";
import { isHex } from "./hex.ts";
import { LAYERS } from "./layers.ts";
import { MARK, TRACE_FLAG } from "./packed_format.ts";
import { ShapeTableWriter } from "./shape_table.ts";
import { SpanPacker } from "./span_packer.ts";
import { StringTableWriter } from "./string_table.ts";
import { indexTrace } from "./trace_index.ts";

export type { TraceIndexEntry } from "./trace_index.ts";
export { type PackedTraces, unpackTraces } from "./unpack.ts";

/**
 * Packs traces into compressed base64 text, which is safe inside a
 * `<script type="application/json">`. {@linkcode unpackTraces} gives them back
 * as they were, times to the last bit.
 *
 * @param traces The traces, in the order in which they are to come back.
 * @returns The text: about 30 bytes a span.
 * @throws {TypeError} If a record holds what its type doesn't allow.
 *
 * @example
 * ```ts
 * import { packTraces, unpackTraces } from "./pack.ts";
 *
 * const id = "00f067aa0ba902b7";
 * const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
 * const time = { startTime: 1.76e12, endTime: 1.76e12 + 0.25, duration: 0.25 };
 * const text = await packTraces([{
 *   id: traceId,
 *   rootSpanId: id,
 *   ...time,
 *   spans: [{
 *     id,
 *     traceId,
 *     parentId: null,
 *     name: "GET /",
 *     layer: "request",
 *     status: "ok",
 *     ...time,
 *     attributes: { "http.request.method": "GET" },
 *     events: [],
 *     children: [],
 *   }],
 *   metadata: { origin: "server" },
 * }]);
 * const packed = await unpackTraces(text);
 * console.assert(packed.index[0]?.name === "GET /");
 * console.assert(packed.trace(0).spans[0]?.duration === 0.25);
 * ```
 */
export async function packTraces(
  traces: readonly SerializedTrace[],
): Promise<string> {
  return encodeBase64(await gzip(writePayload(traces)));
}

function writePayload(
  traces: readonly SerializedTrace[],
): Uint8Array<ArrayBuffer> {
  const strings = new StringTableWriter();
  const shapes = new ShapeTableWriter(strings);
  const spans = new SpanPacker(strings, shapes);
  const index = new ByteWriter();
  const ids = new ByteWriter();

  index.varint(traces.length);
  let lastStart = 0;
  for (const trace of traces) {
    checkTimes(trace);
    const textIds = !hasHexIds(trace);
    if (!textIds) {
      ids.hex(trace.id);
      for (const span of trace.spans) ids.hex(span.id);
    }
    writeIndexRecord(trace, textIds, lastStart, index, strings);
    lastStart = trace.startTime;
    for (const length of spans.add(trace, textIds)) index.varint(length);
  }

  const out = new ByteWriter();
  out.bytes(new TextEncoder().encode(MARK));
  const stringTable = new ByteWriter();
  const shapeTable = new ByteWriter();
  shapes.write(shapeTable);
  strings.write(stringTable);
  const columns = [spans.spans, spans.times, spans.values];
  for (const part of [stringTable, shapeTable, index, ids, ...columns]) {
    out.section(part);
  }
  return out.finish();
}

function writeIndexRecord(
  trace: SerializedTrace,
  textIds: boolean,
  lastStart: number,
  out: ByteWriter,
  strings: StringTableWriter,
): void {
  const { metadata } = trace;
  const entry = indexTrace(trace);
  const ownDuration = trace.duration !== trace.endTime - trace.startTime;
  let flags = 0;
  if (textIds) flags |= TRACE_FLAG.textIds;
  if (metadata.origin === "client") flags |= TRACE_FLAG.client;
  if (ownDuration) flags |= TRACE_FLAG.duration;
  if (metadata.method !== undefined) flags |= TRACE_FLAG.method;
  if (metadata.pathname !== undefined) flags |= TRACE_FLAG.pathname;
  if (metadata.statusCode !== undefined) flags |= TRACE_FLAG.statusCode;
  if (metadata.routePattern !== undefined) flags |= TRACE_FLAG.routePattern;
  if (metadata.droppedSpans !== undefined) flags |= TRACE_FLAG.droppedSpans;

  out.varint(flags);
  out.varint(strings.add(entry.name));
  out.varint(entry.spanCount);
  out.varint(entry.errorCount);
  out.time(trace.startTime, lastStart);
  out.time(trace.endTime, trace.startTime);
  if (ownDuration) out.double(trace.duration);
  if (textIds) out.varint(strings.add(trace.id));
  const root = trace.spans.findIndex(({ id }) => id === trace.rootSpanId);
  const rootPlace = textIds ? 0 : root + 1;
  out.varint(rootPlace);
  if (rootPlace === 0) out.varint(strings.add(trace.rootSpanId));
  const { method, pathname, routePattern, statusCode, droppedSpans } = metadata;
  for (const text of [method, pathname, routePattern]) {
    if (text !== undefined) out.varint(strings.add(text));
  }
  for (const number of [statusCode, droppedSpans]) {
    if (number !== undefined) out.number(number);
  }
  out.varint(entry.layers.length);
  for (const [layer, time] of entry.layers) {
    out.byte(LAYERS.indexOf(layer));
    out.number(Math.round(time * 1000));
  }
}

/** Whether all ids fit the column of raw bytes. */
function hasHexIds(trace: SerializedTrace): boolean {
  return isHex(trace.id, 16) && trace.spans.every((span) => isHex(span.id, 8));
}

function checkTimes(trace: SerializedTrace): void {
  const times = [trace.startTime, trace.endTime, trace.duration];
  for (const span of trace.spans) {
    times.push(span.startTime, span.endTime, span.duration);
    for (const event of span.events) times.push(event.time);
  }
  const wrong = times.find((time) => !Number.isFinite(time));
  if (wrong !== undefined) {
    throw new TypeError(
      `Cannot pack traces: times of trace ${trace.id} must be finite ` +
        `numbers, received ${wrong}`,
    );
  }
}
