import type { Layer, SerializedTrace, TraceMetadata } from "../types.ts";
import { decodeBase64 } from "./base64.ts";
import { ByteReader, damaged } from "./byte_reader.ts";
import { describe } from "./describe.ts";
import { gunzip } from "./gzip.ts";
import { hexOf } from "./hex.ts";
import { LAYERS } from "./layers.ts";
import { MARK, MAX_PAYLOAD, TRACE_FLAG } from "./packed_format.ts";
import { ShapeTable } from "./shape_table.ts";
import { type TraceColumns, unpackSpans } from "./span_unpacker.ts";
import { StringTable } from "./string_table.ts";
import type { TraceIndexEntry } from "./trace_index.ts";

/** Traces that are decoded when somebody asks for them. */
export interface PackedTraces {
  /** What a list shows of each trace, in the order in which they came. */
  readonly index: readonly TraceIndexEntry[];
  /**
   * Decodes the trace at place `i` of the index; anew at each call.
   *
   * @throws {RangeError} If there is no such place.
   * @throws {TypeError} If the text was damaged on purpose; damage by accident
   * is found by {@linkcode unpackTraces}.
   */
  trace(i: number): SerializedTrace;
}

/** A trace's index entry, and what else is needed to decode it. */
interface Stored {
  readonly entry: TraceIndexEntry;
  readonly endTime: number;
  readonly metadata: TraceMetadata;
  readonly columns: TraceColumns;
}

/** What the columns are read from, section by section. */
interface Sections {
  readonly strings: StringTable;
  readonly shapes: ShapeTable;
  readonly ids: ByteReader;
  readonly spans: ByteReader;
  readonly times: ByteReader;
  readonly values: ByteReader;
}

/**
 * Unpacks the text that {@linkcode packTraces} made, as far as a list needs
 * it. Each trace is decoded when it is asked for.
 *
 * @param text The text; space around it is ignored.
 * @throws {TypeError} If the text is anything else, or damaged.
 *
 * @example
 * ```ts
 * import { packTraces, unpackTraces } from "./pack.ts";
 *
 * const packed = await unpackTraces(await packTraces([]));
 * console.assert(packed.index.length === 0);
 * ```
 */
export async function unpackTraces(text: string): Promise<PackedTraces> {
  const stored = readPayload(await decompress(text));
  return {
    index: stored.list.map(({ entry }) => entry),
    trace(i) {
      const found = stored.list[i];
      if (found === undefined) {
        throw new RangeError(
          `Cannot unpack a trace: i must be a place in an index of ` +
            `${stored.list.length} traces, received ${describe(i)}`,
        );
      }
      return readTrace(found, stored.sections);
    },
  };
}

async function decompress(text: string): Promise<Uint8Array> {
  if (typeof text !== "string") {
    throw new TypeError(
      "Cannot unpack traces: the text must be a string, " +
        `received ${describe(text)}`,
    );
  }
  let bytes;
  try {
    bytes = decodeBase64(text.trim());
  } catch {
    throw damaged("characters that aren't base64");
  }
  try {
    return await gunzip(bytes, MAX_PAYLOAD);
  } catch (error) {
    if (error instanceof RangeError) throw damaged(error.message);
    throw damaged("bytes that aren't whole gzip");
  }
}

function readPayload(
  payload: Uint8Array,
): { list: Stored[]; sections: Sections } {
  const reader = new ByteReader(payload);
  const mark = new TextDecoder().decode(payload.subarray(0, MARK.length));
  if (mark !== MARK) throw damaged("another format or version");
  reader.bytes(MARK.length);

  const strings = new StringTable(reader.section());
  const shapes = new ShapeTable(reader.section(), strings);
  const index = reader.section();
  const sections: Sections = {
    strings,
    shapes,
    ids: reader.section(),
    spans: reader.section(),
    times: reader.section(),
    values: reader.section(),
  };
  const list: Stored[] = [];
  const count = index.count(8);
  let lastStart = 0;
  for (let i = 0; i < count; i++) {
    const stored = readIndexRecord(index, sections, lastStart);
    list.push(stored);
    lastStart = stored.entry.startTime;
  }
  return { list, sections };
}

function readIndexRecord(
  index: ByteReader,
  sections: Sections,
  lastStart: number,
): Stored {
  const { strings } = sections;
  const flags = index.varint();
  const has = (flag: keyof typeof TRACE_FLAG) =>
    (flags & TRACE_FLAG[flag]) !== 0;
  const text = () => strings.read(index);
  const textIds = has("textIds");

  const name = text();
  const spanCount = index.varint();
  const errorCount = index.varint();
  const startTime = index.time(lastStart);
  const endTime = index.time(startTime);
  const duration = has("duration") ? index.finite() : endTime - startTime;
  const ids = textIds ? null : sections.ids.bytes(16 + 8 * spanCount);
  const id = ids === null ? text() : hexOf(ids, 0, 16);
  const rootPlace = index.below(spanCount + 1);
  if (rootPlace > 0 && ids === null) throw damaged("a root without an id");
  const rootSpanId = rootPlace === 0 || ids === null
    ? text()
    : hexOf(ids, 8 + 8 * rootPlace, 16 + 8 * rootPlace);
  const request = {
    ...(has("method") && { method: text() }),
    ...(has("pathname") && { pathname: text() }),
    ...(has("routePattern") && { routePattern: text() }),
    ...(has("statusCode") && { statusCode: index.number() }),
  };
  const metadata: TraceMetadata = {
    origin: has("client") ? "client" : "server",
    ...request,
    ...(has("droppedSpans") && { droppedSpans: index.number() }),
  };
  const entry: TraceIndexEntry = {
    id,
    rootSpanId,
    name,
    startTime,
    duration,
    spanCount,
    errorCount,
    ...request,
    layers: readLayers(index),
  };
  const columns: TraceColumns = {
    ids,
    spans: sections.spans.bytes(index.varint()),
    times: sections.times.bytes(index.varint()),
    values: sections.values.bytes(index.varint()),
  };
  // A span's row is five bytes at least; one is enough to bound the work.
  if (spanCount > columns.spans.length) throw damaged("spans without bytes");
  return { entry, endTime, metadata, columns };
}

function readLayers(index: ByteReader): [Layer, number][] {
  const layers: [Layer, number][] = [];
  const count = index.count(2);
  for (let i = 0; i < count; i++) {
    const layer = LAYERS[index.byte()];
    if (layer === undefined) throw damaged("an unknown layer");
    layers.push([layer, index.number() / 1000]);
  }
  return layers;
}

function readTrace(stored: Stored, sections: Sections): SerializedTrace {
  const { entry, endTime, metadata, columns } = stored;
  return {
    id: entry.id,
    rootSpanId: entry.rootSpanId,
    startTime: entry.startTime,
    endTime,
    duration: entry.duration,
    spans: unpackSpans(entry, columns, sections.strings, sections.shapes),
    metadata: { ...metadata },
  };
}
