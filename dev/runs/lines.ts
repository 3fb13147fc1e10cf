/**
 * The lines of a segment. The first one is its header, and each other one has
 * spans or events that a tracer recorded.
 *
 * A line has the form of a trace, so that it is checked like one.
 *
 * @module
 */

import { isHex } from "../../core/bytes/bytes.ts";
import { show } from "../../core/check/rules.ts";
import { Field } from "../../trace/export/otlp_value.ts";
import { deserializeTrace } from "../../trace/serialize.ts";
import type {
  RemoteEvent,
  SerializedTrace,
  SpanData,
  TraceData,
} from "../../trace/types.ts";
import { type FileStates, MAX_FILES } from "./file_states.ts";

/** The version of the format. Segments of others are left out. */
const VERSION = 1;

/** Maximum files that are named as changed. */
export const MAX_CHANGED = 100;
/** Maximum characters of such a name. */
const MAX_NAME = 1_000;

/** The first line of a segment. */
export interface Header {
  /** The files that have changed since the run before, the latest first. */
  readonly changed: readonly string[];
  /** The state of the files when the run started. */
  readonly files: FileStates;
}

/** A line after the first one, as it was read. */
export interface ReadPart {
  /** Whether it has events of spans of other services, and not whole spans. */
  readonly isEvents: boolean;
  /** The spans, in the form of a trace. */
  readonly trace: TraceData;
}

/** Returns the first line of a segment. */
export function headerLine({ changed, files }: Header): string {
  return JSON.stringify({ quartet: VERSION, changed, files: [...files] });
}

/**
 * Reads the first line of a segment.
 *
 * @returns `undefined` if it has another version.
 * @throws {TypeError} If it isn't a header.
 */
export function readHeader(line: string): Header | undefined {
  const header = new Field(parse(line), "header");
  if (header.get("quartet").number() !== VERSION) return undefined;
  const files = header.get("files").items().slice(0, MAX_FILES);
  return {
    changed: header.get("changed").items().slice(0, MAX_CHANGED)
      .map((name) => name.text().slice(0, MAX_NAME)),
    files: new Map(files.map((entry) => {
      const [name = entry, state = entry] = entry.items();
      return [name.text(), state.text()];
    })),
  };
}

/**
 * Reads a line after the first one.
 *
 * @throws {TypeError} If it isn't valid.
 */
export function readPart(line: string): ReadPart {
  const part = new Field(parse(line), "part");
  const isEvents = Object.hasOwn(part.record(), "events");
  const trace = deserializeTrace(part.get(isEvents ? "events" : "spans").value);
  for (const { id, traceId } of trace.spans.values()) {
    if (isHex(id, 8) && isHex(traceId, 16)) continue;
    throw new TypeError(
      `Cannot read part: ids must be hex digits, received ${show(id)}`,
    );
  }
  return { isEvents, trace };
}

/** Returns spans in the form of a trace. */
export function asTrace(spans: readonly SpanData[]): SerializedTrace {
  const [{ id, traceId, startTime, endTime, duration }] = spans as [SpanData];
  return {
    id: traceId,
    rootSpanId: id,
    startTime,
    endTime,
    duration,
    spans,
    metadata: { origin: "server" },
  };
}

/** Returns an event as the only one of a span. */
export function asSpan({ traceId, spanId: id, event }: RemoteEvent): SpanData {
  return {
    id,
    traceId,
    parentId: null,
    name: "",
    layer: "custom",
    status: "ok",
    startTime: event.time,
    endTime: event.time,
    duration: 0,
    attributes: {},
    events: [event],
    children: [],
  };
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw new TypeError("Cannot read line: the text is not JSON");
  }
}
