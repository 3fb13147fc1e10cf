import type { Layer, SerializedTrace, TraceMetadata } from "../types.ts";
import { decodeBase64 } from "./base64.ts";
import { describe } from "./describe.ts";
import { gunzip } from "./gzip.ts";
import { isLayer } from "./layers.ts";
import { damaged, MARK, MAX_PAYLOAD } from "./packed_format.ts";
import { readMetadata } from "./semantics.ts";
import { toCount, toText, unpackSpans, unpackTime } from "./span_unpacker.ts";
import { requestOf, type TraceIndexEntry } from "./trace_index.ts";

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

/** An index entry, and what else is known of a trace without its spans. */
interface Stored {
  readonly entry: TraceIndexEntry;
  readonly endTime: number;
  readonly metadata: TraceMetadata;
}

/** Gives the line at a place as text. */
type ReadLine = (place: number) => string;

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
  const bytes = await decompress(text);
  const ends = lineEnds(bytes);
  const decoder = new TextDecoder();
  const line: ReadLine = (place) =>
    decoder.decode(bytes.subarray((ends[place - 1] ?? -1) + 1, ends[place]));
  if (line(0) !== MARK) throw damaged("another format or version");
  return trusting(() => readPayload(line, ends.length));
}

/** Where each line ends: nobody needs all of them as texts at once. */
function lineEnds(bytes: Uint8Array): number[] {
  const ends: number[] = [];
  const find = (from: number) => bytes.indexOf(10, from);
  for (let end = find(0); end >= 0; end = find(end + 1)) ends.push(end);
  ends.push(bytes.length);
  return ends;
}

/** Runs a reader that only checks what it hands out. */
function trusting<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw damaged("parts missing or of another form");
  }
}

function readPayload(line: ReadLine, lineCount: number): PackedTraces {
  const parse = (place: number) => JSON.parse(line(place));
  const [shapes, strings, heads, rows] = [1, 2, 3, 4].map(parse);
  shapes.forEach((keys: unknown[]) => keys.forEach(toText));
  if (lineCount !== 5 + 3 * rows.length) throw damaged("lines missing");
  let last = 0;
  const list: Stored[] = rows.map((row: unknown[], i: number): Stored => {
    const { startTime, endTime, duration } = unpackTime(row, 0, last);
    last = startTime;
    const metadata = readMetadata(row[7])!;
    const entry = {
      id: toText(heads[2 * i]),
      rootSpanId: toText(heads[2 * i + 1]),
      name: toText(strings[row[3] as number]),
      startTime,
      duration,
      spanCount: toCount(row[4]),
      errorCount: toCount(row[5]),
      ...requestOf(metadata),
      layers: (row[6] as unknown[][]).map(readLayer),
    };
    return { entry, endTime, metadata };
  });
  return {
    index: list.map(({ entry }) => entry),
    trace(i) {
      const stored = list[i];
      if (stored === undefined) {
        throw new RangeError(
          `Cannot unpack a trace: i must be a place in an index of ` +
            `${list.length} traces, received ${describe(i)}`,
        );
      }
      const { entry: { id, rootSpanId, startTime, duration }, endTime } =
        stored;
      const trace = { id, rootSpanId, startTime, endTime, duration };
      const column = (n: number) => parse(5 + n * list.length + i);
      return trusting(() => ({
        ...trace,
        spans: unpackSpans(
          trace,
          { ids: column(0), times: column(1), spans: column(2) },
          { strings, shapes },
        ),
        metadata: { ...stored.metadata },
      }));
    },
  };
}

function readLayer([layer, time]: unknown[]): readonly [Layer, number] {
  if (!isLayer(layer)) throw damaged("an unknown layer");
  return [layer, toCount(time)];
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
