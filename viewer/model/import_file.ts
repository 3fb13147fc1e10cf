/**
 * Reads files: serialized traces, exported pages, OTLP/JSON, and the kit's own
 * Chrome traces.
 *
 * @module
 */

import { kindOf, show } from "../../core/check/rules.ts";
import { fromChromeTrace, isChromeTrace } from "./chrome_reader.ts";
import { fromOTLP } from "../../trace/export/otlp_reader.ts";
import { openTraces, type Pieces } from "../../trace/export/pack.ts";
import { deserializeTrace, serializeTrace } from "../../trace/serialize.ts";
import type { SerializedTrace } from "../../trace/types.ts";
import { summarize, summarizePacked, type TraceEntry } from "./summary.ts";
import { messageOf } from "./text.ts";

/** The start of the block with a page's traces. */
const BLOCK = / id="trace-data" data-encoding="(\w+)">/;

/**
 * Reads the text of a file.
 *
 * @throws {TypeError} If it contains no traces. The message has the reason.
 */
export async function importText(text: string): Promise<readonly TraceEntry[]> {
  if (!/^\s*</.test(text)) return readTraces(parseJson(text)).map(summarize);
  const block = BLOCK.exec(text);
  if (block === null) {
    throw new TypeError(
      "Cannot read the page: this viewer did not export it",
    );
  }
  const [begin, encoding] = block;
  if (encoding === "none") return [];
  const from = block.index + begin.length;
  const content = text.slice(from, text.indexOf("<", from));
  const { entries, complete } = await readDataBlock(encoding!, [content]);
  await complete();
  return entries;
}

/**
 * Reads the data block of a page.
 *
 * @param encoding The value of `data-encoding`: `json` or `packed`.
 * @param pieces The block's content in pieces of any length.
 * @returns The entries of the list. Their traces can be opened after
 * `complete()`, which rejects with a `TypeError` if they are damaged.
 * @throws {TypeError} If the block is damaged, or encoded in another way.
 */
export async function readDataBlock(encoding: string, pieces: Pieces) {
  if (encoding === "json") {
    let text = "";
    for await (const piece of pieces) text += piece;
    const entries = readTraces(parseJson(text)).map(summarize);
    return { entries, complete: async () => {} };
  }
  if (encoding === "packed") {
    const packed = await openTraces(pieces);
    return { entries: summarizePacked(packed), complete: packed.complete };
  }
  const received = show(encoding);
  throw new TypeError(
    `Cannot read the page: data-encoding must be json or packed, received ${received}`,
  );
}

/**
 * Reads traces from a JSON value: a trace, a list of traces, `{ traces }`, `{
 * trace }`, OTLP, a list of OTLP objects, or a Chrome trace of the kit.
 *
 * @throws {TypeError} If there are none, or one is malformed.
 */
export function readTraces(value: unknown): SerializedTrace[] {
  if (isChromeTrace(value)) return fromChromeTrace(value);
  const items = listOf(value);
  const otlp = items.filter(isOtlp);
  const own = items.filter((item) => !isOtlp(item))
    .map((item) => serializeTrace(deserializeTrace(item)));
  if (otlp.length === 0) return own;
  // Spans of one trace may be spread over many lines: read them as one value.
  const resourceSpans = otlp.flatMap((item) => item.resourceSpans);
  return [...own, ...fromOTLP({ resourceSpans })];
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== "object" || value === null) {
    const received = kindOf(value);
    throw new TypeError(
      `Cannot read traces: they must be an object or an array, received ${received}`,
    );
  }
  if ("traces" in value && Array.isArray(value.traces)) return value.traces;
  return ["trace" in value ? value.trace : value];
}

function isOtlp(value: unknown): value is { resourceSpans: unknown[] } {
  return Array.isArray(Object(value).resourceSpans);
}

/** Parses one JSON value, or one in each line, as in OTLP files. */
function parseJson(text: string): unknown {
  const source = text.replace(/^\uFEFF/, "");
  try {
    return JSON.parse(source);
  } catch (error) {
    const lines = source.split("\n").filter((line) => line.trim() !== "");
    if (lines.length < 2) throw notJson(error);
    return lines.flatMap((line, i) => {
      try {
        return listOf(JSON.parse(line));
      } catch (lineError) {
        throw notJson(i === 0 ? error : lineError);
      }
    });
  }
}

function notJson(cause: unknown): TypeError {
  const reason = messageOf(cause);
  return new TypeError(`Cannot read the file: it must be JSON, ${reason}`);
}
