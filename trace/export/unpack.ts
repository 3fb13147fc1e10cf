/**
 * Reads the traces that `pack.ts` wrote. `packed_format.ts` describes the
 * layout.
 *
 * @module
 */

import { decodeBase64 } from "../../core/bytes/base64.ts";
import { checkValue } from "../../core/check/options.ts";
import { aString } from "../../core/check/rules.ts";
import type { SerializedTrace } from "../types.ts";
import { type ReadOn, startGunzip } from "./gzip.ts";
import { isLayer, readMetadata } from "./semantics.ts";
import {
  damaged,
  HEAD_LINES,
  MARK,
  MAX_PAYLOAD,
  toCount,
  toText,
  unpackTime,
} from "./packed_format.ts";
import { unpackSpans } from "./packed_spans.ts";
import { readFacts } from "./trace_facts.ts";
import { requestOf, type TraceIndexEntry } from "./trace_index.ts";

/** Traces that are decoded on demand. */
export interface PackedTraces {
  /** The row of each trace in a list, in their order. */
  readonly index: readonly TraceIndexEntry[];
  /**
   * Decodes the trace at position `i` of the index, again at each call.
   *
   * @throws {RangeError} If there is no such position.
   * @throws {TypeError} If the text was damaged on purpose. {@linkcode
   * unpackTraces} finds accidental damage.
   */
  trace(i: number): SerializedTrace;
}

/** Packed traces whose index has been read. */
export interface OpenedTraces extends PackedTraces {
  /**
   * Reads the rest. Until that is done, `trace()` throws.
   *
   * @throws {TypeError} If the text is damaged.
   */
  complete(): Promise<void>;
}

/** A text in pieces. Some may still arrive. */
export type Pieces = Iterable<string> | AsyncIterable<string>;

/**
 * Unpacks the result of {@linkcode packTraces}, as far as a list needs it. Each
 * trace is decoded on demand.
 *
 * @param text The text. Surrounding space is ignored.
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
  checkValue(text, "the text", aString, "unpack traces");
  const { complete, ...packed } = await openTraces([text]);
  await complete();
  return packed;
}

/**
 * Like {@linkcode unpackTraces}, but reads only the index at first, which is a
 * fifth of many traces. `complete()` reads the rest and finds damage there.
 *
 * @param pieces The text in pieces of any length.
 * @throws {TypeError} If the text is anything else, or damaged so far.
 */
export async function openTraces(pieces: Pieces): Promise<OpenedTraces> {
  const readOn = decompress(pieces);
  const lines = new Lines();
  lines.bytes = await readOn((chunk) => lines.find(chunk) >= HEAD_LINES);
  if (lines.text(0) !== MARK) throw damaged("another format or version");
  const packed = trusting(() => readHead(lines));
  return {
    ...packed,
    async complete() {
      lines.bytes = await readOn((chunk) => lines.find(chunk) < 0);
      if (lines.count !== HEAD_LINES + 3 * packed.index.length) {
        throw damaged("lines missing");
      }
    },
  };
}

/** The lines of a payload, which become strings on demand. */
class Lines {
  /** The bytes of the payload that were read so far. */
  bytes = new Uint8Array();
  readonly #decoder = new TextDecoder();
  readonly #ends: number[] = [];
  #length = 0;

  /** The number of lines. The last may be incomplete. */
  get count(): number {
    return this.#ends.length + 1;
  }

  /** Finds the ends of lines in a chunk. Returns how many were found so far. */
  find(chunk: Uint8Array): number {
    for (
      let end = chunk.indexOf(10);
      end >= 0;
      end = chunk.indexOf(10, end + 1)
    ) this.#ends.push(this.#length + end);
    this.#length += chunk.length;
    return this.#ends.length;
  }

  /** Returns the text of a line. */
  text(place: number): string {
    const start = (this.#ends[place - 1] ?? -1) + 1;
    return this.#decoder.decode(this.bytes.subarray(start, this.#ends[place]));
  }

  /** Returns the content of a line of JSON. */
  json(place: number) {
    return JSON.parse(this.text(place));
  }
}

/** Runs a reader that doesn't check the whole input. */
function trusting<T>(read: () => T): T {
  try {
    return read();
  } catch {
    throw damaged("parts missing or of another form");
  }
}

function readHead(lines: Lines): PackedTraces {
  const [shapes, strings, heads, rows] = [1, 2, 3, 4].map((place) =>
    lines.json(place)
  );
  shapes.forEach((keys: unknown[]) => keys.forEach(toText));
  const ends: number[] = [];
  let last = 0;
  const index = rows.map((row: unknown[], i: number): TraceIndexEntry => {
    const { startTime, endTime, duration } = unpackTime(row, 0, last);
    last = startTime;
    ends.push(endTime);
    return {
      id: toText(heads[2 * i]),
      rootSpanId: toText(heads[2 * i + 1]),
      name: toText(strings[row[3] as number]),
      startTime,
      duration,
      spanCount: toCount(row[4]),
      errorCount: toCount(row[5]),
      ...requestOf(readMetadata(row[7])!),
      layers: toLayers(row[6]),
      ...readFacts(row[8]),
    };
  });

  function trace(i: number): SerializedTrace {
    const entry = index[i];
    if (entry === undefined) {
      throw new RangeError(
        `Cannot unpack a trace: i must be a place in an index of ${index.length} traces, received ${i}`,
      );
    }
    const { id, rootSpanId, startTime, duration } = entry;
    const head = { id, rootSpanId, startTime, endTime: ends[i]!, duration };
    return trusting(() => {
      const [ids, times, spans] = [0, 1, 2].map((column) =>
        lines.json(HEAD_LINES + column * index.length + i)
      );
      return {
        ...head,
        spans: unpackSpans(head, { ids, times, spans }, { strings, shapes }),
        metadata: readMetadata(rows[i][7])!,
      };
    });
  }

  return { index, trace };
}

/** The same value if it is a list of layers and numbers. */
function toLayers(value: unknown): TraceIndexEntry["layers"] {
  for (const pair of value as unknown[][]) {
    if (!isLayer(pair[0]) || pair.length !== 2) throw damaged("layers");
    toCount(pair[1]);
  }
  return value as TraceIndexEntry["layers"];
}

/** Damaged compression gets the module's own error. */
function decompress(pieces: Pieces): ReadOn {
  const readOn = startGunzip(decode(pieces), MAX_PAYLOAD);
  return async (isEnough) => {
    try {
      return await readOn(isEnough);
    } catch (error) {
      if (error instanceof RangeError) throw damaged(error.message);
      throw damaged("bytes that aren't whole gzip");
    }
  };
}

/** The number of characters to decode and decompress at a time. */
const SLICE = 2 ** 16;

/** Decodes base64 text that may be cut anywhere. */
async function* decode(
  pieces: Pieces,
): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  let rest = "";
  const take = (length: number) => {
    const text = rest.slice(0, length);
    rest = rest.slice(length);
    try {
      return decodeBase64(text);
    } catch {
      throw new RangeError("characters that aren't base64");
    }
  };
  for await (const piece of pieces) {
    rest += piece.replace(/\s+/g, "");
    // Four characters are three bytes.
    while (rest.length > 3) {
      yield take(Math.min(rest.length - rest.length % 4, SLICE));
    }
  }
  if (rest !== "") yield take(4);
}
