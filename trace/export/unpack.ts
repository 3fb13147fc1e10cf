import type { SerializedTrace, SpanData, TraceMetadata } from "../types.ts";
import { decodeBase64 } from "./base64.ts";
import { describe } from "./describe.ts";
import { gunzip } from "./gzip.ts";
import { isLayer } from "./layers.ts";
import { damaged, MARK, MAX_PAYLOAD } from "./packed_format.ts";
import { readMetadata } from "./semantics.ts";
import { toCount, toText, unpackSpans, unpackTime } from "./span_unpacker.ts";
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

/** An index entry, and what else is known of a trace without its spans. */
type Stored =
  & Omit<TraceIndexEntry, keyof TraceMetadata>
  & Pick<SpanData, "endTime">
  & { readonly metadata: TraceMetadata };

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
  const payload = new TextDecoder().decode(await decompress(text));
  const [mark, ...lines] = payload.split("\n");
  if (mark !== MARK) throw damaged("another format or version");
  return trusting(() => readPayload(lines));
}

/** Runs a reader that only checks what it hands out. */
function trusting<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw damaged("parts missing or of another form");
  }
}

function readPayload(lines: readonly string[]): PackedTraces {
  const parse = (line: number) => JSON.parse(lines[line]!);
  const [shapes, strings, heads, rows] = [0, 1, 2, 3].map(parse);
  shapes.forEach((keys: unknown[]) => keys.forEach(toText));
  if (lines.length !== 4 + 3 * rows.length) throw damaged("lines missing");
  let last = 0;
  const list: Stored[] = rows.map((row: unknown[], i: number): Stored => {
    const time = unpackTime(row, 0, last);
    last = time.startTime;
    const [name, spanCount, errorCount, layers, metadata] = row.slice(3);
    return {
      id: toText(heads[2 * i]),
      rootSpanId: toText(heads[2 * i + 1]),
      name: toText(strings[name as number]),
      ...time,
      spanCount: toCount(spanCount),
      errorCount: toCount(errorCount),
      layers: (layers as unknown[][]).map(([layer, time]) => {
        if (!isLayer(layer)) throw damaged("an unknown layer");
        return [layer, toCount(time)];
      }),
      metadata: readMetadata(metadata)!,
    };
  });
  return {
    index: list.map(({ endTime: _, metadata, ...entry }) => {
      const { origin: _origin, droppedSpans: _dropped, ...request } = metadata;
      return { ...entry, ...request };
    }),
    trace(i) {
      const stored = list[i];
      if (stored === undefined) {
        throw new RangeError(
          `Cannot unpack a trace: i must be a place in an index of ` +
            `${list.length} traces, received ${describe(i)}`,
        );
      }
      const { name: _, spanCount: _1, errorCount: _2, layers: _3, ...trace } =
        stored;
      const line = (column: number) => parse(4 + column * list.length + i);
      return trusting(() => ({
        ...trace,
        spans: unpackSpans(
          trace,
          { ids: line(0), times: line(1), spans: line(2) },
          { strings, shapes },
        ),
        metadata: { ...trace.metadata },
      }));
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
