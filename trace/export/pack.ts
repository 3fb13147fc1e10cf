/**
 * Packs traces into one compact text. `packed_format.ts` describes the layout,
 * and `unpack.ts` reads it.
 *
 * @module
 */

import { encodeBase64 } from "../../core/bytes/base64.ts";
import type { SerializedTrace } from "../types.ts";
import { gzip } from "./gzip.ts";
import { MARK, packTime } from "./packed_format.ts";
import { numberOf, packSpans, type Tables } from "./packed_spans.ts";
import { factsOf } from "./trace_facts.ts";
import { totalsOf } from "./trace_index.ts";

export {
  openTraces,
  type PackedTraces,
  type Pieces,
  unpackTraces,
} from "./unpack.ts";

/**
 * Packs traces into compressed base64 text, which is safe inside a `<script
 * type="application/json">`. {@linkcode unpackTraces} restores them exactly,
 * including times.
 *
 * @param traces The traces. Unpacking keeps their order.
 * @returns The text, with about 30 bytes for each span.
 * @throws {TypeError} If a record has values that its type doesn't allow.
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
  const tables: Tables = { strings: new Map(), shapes: new Map() };
  const index = traces.map((trace, i) => {
    const { name, spanCount, errorCount, layers } = totalsOf(trace);
    return [
      ...packTime(trace, traces[i - 1]?.startTime ?? 0),
      numberOf(name, tables.strings),
      spanCount,
      errorCount,
      layers,
      trace.metadata,
      factsOf(trace),
    ];
  });
  const packed = traces.map((trace) => packSpans(trace, tables));
  const lines = [
    [...tables.strings.keys()],
    traces.flatMap(({ id, rootSpanId }) => [id, rootSpanId]),
    index,
    ...packed.map(({ ids }) => ids),
    ...packed.map(({ times }) => times),
    ...packed.map(({ spans }) => spans),
  ].map((line) => JSON.stringify(line));
  // Shapes are JSON already.
  const text = [MARK, `[${[...tables.shapes.keys()]}]`, ...lines].join("\n");
  return new TextEncoder().encode(text);
}
