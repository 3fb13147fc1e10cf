import type { SpanData, SpanEvent } from "../types.ts";
import { ByteReader, damaged } from "./byte_reader.ts";
import { hexOf } from "./hex.ts";
import { LAYERS, STATUSES } from "./layers.ts";
import { PARENT, SPAN_FLAG } from "./packed_format.ts";
import type { ShapeTable } from "./shape_table.ts";
import type { StringTable } from "./string_table.ts";
import type { TraceIndexEntry } from "./trace_index.ts";

/** A trace's stretch of each column. */
export interface TraceColumns {
  /** The trace id and the span ids, or `null` where ids are text. */
  readonly ids: Uint8Array | null;
  readonly spans: Uint8Array;
  readonly times: Uint8Array;
  readonly values: Uint8Array;
}

/** What spans are read from. */
interface Source {
  readonly spans: ByteReader;
  readonly times: ByteReader;
  readonly values: ByteReader;
  readonly strings: StringTable;
  readonly shapes: ShapeTable;
}

/** A span before its parent's id and its children are known. */
interface Row {
  readonly span: Omit<SpanData, "parentId" | "children">;
  /** The place of its parent, or the parent's id, or `null`. */
  readonly parent: number | string | null;
  /** Ids of its children, or `null` where the parents imply them. */
  readonly children: string[] | null;
}

/** Reads what `SpanPacker` wrote for one trace. */
export function unpackSpans(
  trace: TraceIndexEntry,
  columns: TraceColumns,
  strings: StringTable,
  shapes: ShapeTable,
): SpanData[] {
  const source: Source = {
    spans: new ByteReader(columns.spans),
    times: new ByteReader(columns.times),
    values: new ByteReader(columns.values),
    strings,
    shapes,
  };
  const { ids } = columns;
  const rows: Row[] = [];
  let lastStart = trace.startTime;
  for (let i = 0; i < trace.spanCount; i++) {
    const id = ids === null
      ? strings.read(source.spans)
      : hexOf(ids, 16 + 8 * i, 24 + 8 * i);
    const row = readRow(id, trace, lastStart, source);
    lastStart = row.span.startTime;
    rows.push(row);
  }
  return link(rows);
}

function readRow(
  id: string,
  trace: TraceIndexEntry,
  lastStart: number,
  source: Source,
): Row {
  const { spans, times, values, strings, shapes } = source;
  const name = strings.read(spans);
  const kind = spans.byte();
  const layer = LAYERS[Math.floor(kind / STATUSES.length)];
  const status = STATUSES[kind % STATUSES.length];
  if (layer === undefined || status === undefined) {
    throw damaged("an unknown layer");
  }
  const parent = readParent(trace.spanCount, source);
  const attributes = shapes.read(spans, values);
  const flags = spans.varint();
  const has = (flag: keyof typeof SPAN_FLAG) => (flags & SPAN_FLAG[flag]) !== 0;

  const startTime = times.time(lastStart);
  const endTime = times.time(startTime);
  const duration = has("duration") ? times.finite() : endTime - startTime;

  const traceId = has("traceId") ? strings.read(values) : trace.id;
  const children = has("children") ? readChildren(source) : null;
  const events = has("events") ? readEvents(startTime, source) : [];
  const span = {
    id,
    traceId,
    name,
    layer,
    status,
    startTime,
    endTime,
    duration,
    attributes,
    events,
    ...(has("droppedAttributes") && { droppedAttributes: values.number() }),
    ...(has("droppedEvents") && { droppedEvents: values.number() }),
  };
  return { span, parent, children };
}

function readParent(spanCount: number, source: Source): Row["parent"] {
  const parent = source.spans.below(PARENT.first + spanCount);
  if (parent === PARENT.none) return null;
  if (parent === PARENT.foreign) return source.strings.read(source.spans);
  return parent - PARENT.first;
}

function readChildren({ values, strings }: Source): string[] {
  const children: string[] = [];
  const count = values.count(1);
  for (let i = 0; i < count; i++) children.push(strings.read(values));
  return children;
}

function readEvents(spanStart: number, source: Source): SpanEvent[] {
  const { values, strings, shapes } = source;
  const events: SpanEvent[] = [];
  const count = values.count(3);
  for (let i = 0; i < count; i++) {
    const name = strings.read(values);
    const time = values.time(spanStart);
    const attributes = values.byte() === 1
      ? { attributes: shapes.read(values, values) }
      : undefined;
    events.push({ name, time, ...attributes });
  }
  return events;
}

/** Turns places of parents into ids and tells parents of their children. */
function link(rows: readonly Row[]): SpanData[] {
  const children: string[][] = rows.map((row) => row.children ?? []);
  for (const { span, parent } of rows) {
    if (typeof parent !== "number") continue;
    if (rows[parent]?.children === null) children[parent]?.push(span.id);
  }
  return rows.map(({ span, parent }, i) => ({
    ...span,
    parentId: typeof parent === "number"
      ? rows[parent]?.span.id ?? null
      : parent,
    children: children[i] ?? [],
  }));
}
