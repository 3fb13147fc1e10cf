import type { SerializedTrace, SpanData } from "../types.ts";
import { ByteWriter } from "./byte_writer.ts";
import { LAYERS, STATUSES } from "./layers.ts";
import { PARENT, SPAN_FLAG } from "./packed_format.ts";
import type { ShapeTableWriter } from "./shape_table.ts";
import type { StringTableWriter } from "./string_table.ts";

/** Writes the spans of traces to the columns drawn in `packed_format.ts`. */
export class SpanPacker {
  /** What each span is. */
  readonly spans = new ByteWriter();
  /** When each span was. */
  readonly times = new ByteWriter();
  /** Attribute values, events and what few spans have. */
  readonly values = new ByteWriter();
  readonly #strings: StringTableWriter;
  readonly #shapes: ShapeTableWriter;

  /** Strings and shapes go to tables that all traces share. */
  constructor(strings: StringTableWriter, shapes: ShapeTableWriter) {
    this.#strings = strings;
    this.#shapes = shapes;
  }

  /** Adds a trace. Returns how many bytes it takes in each column. */
  add(trace: SerializedTrace, textIds: boolean): [number, number, number] {
    const before = this.#lengths();
    const places = placesById(trace.spans);
    const children = childrenOf(trace.spans, places);
    let lastStart = trace.startTime;
    trace.spans.forEach((span, i) => {
      if (textIds) this.spans.varint(this.#strings.add(span.id));
      const implied = children[i] ?? [];
      const ownChildren = !areEqual(implied, span.children);
      const flags = flagsOf(span, trace.id, ownChildren);
      this.#addRow(span, places);
      this.spans.varint(flags);
      this.#addTimes(span, flags, lastStart);
      this.#addRarities(span, flags);
      lastStart = span.startTime;
    });
    const after = this.#lengths();
    return [
      after[0] - before[0],
      after[1] - before[1],
      after[2] - before[2],
    ];
  }

  #lengths(): [number, number, number] {
    return [this.spans.length, this.times.length, this.values.length];
  }

  #addRow(span: SpanData, places: ReadonlyMap<string, number>): void {
    const { spans } = this;
    spans.varint(this.#strings.add(span.name));
    spans.byte(kindOf(span));
    const parent = span.parentId === null
      ? undefined
      : places.get(span.parentId);
    if (parent !== undefined) {
      spans.varint(PARENT.first + parent);
    } else if (span.parentId === null) {
      spans.varint(PARENT.none);
    } else {
      spans.varint(PARENT.foreign);
      spans.varint(this.#strings.add(span.parentId));
    }
    this.#shapes.add(span.attributes, spans, this.values);
  }

  #addTimes(span: SpanData, flags: number, lastStart: number): void {
    this.times.time(span.startTime, lastStart);
    this.times.time(span.endTime, span.startTime);
    if (flags & SPAN_FLAG.duration) this.times.double(span.duration);
  }

  #addRarities(span: SpanData, flags: number): void {
    const { values } = this;
    if (flags & SPAN_FLAG.traceId) {
      values.varint(this.#strings.add(span.traceId));
    }
    if (flags & SPAN_FLAG.children) {
      values.varint(span.children.length);
      for (const id of span.children) values.varint(this.#strings.add(id));
    }
    if (flags & SPAN_FLAG.events) this.#addEvents(span);
    if (span.droppedAttributes !== undefined) {
      values.number(span.droppedAttributes);
    }
    if (span.droppedEvents !== undefined) values.number(span.droppedEvents);
  }

  #addEvents(span: SpanData): void {
    const { values } = this;
    values.varint(span.events.length);
    for (const event of span.events) {
      values.varint(this.#strings.add(event.name));
      values.time(event.time, span.startTime);
      values.byte(event.attributes === undefined ? 0 : 1);
      if (event.attributes !== undefined) {
        this.#shapes.add(event.attributes, values, values);
      }
    }
  }
}

/** Where the first span with each id is. */
function placesById(spans: readonly SpanData[]): Map<string, number> {
  const places = new Map<string, number>();
  spans.forEach((span, i) => {
    if (!places.has(span.id)) places.set(span.id, i);
  });
  return places;
}

/** The ids of each span's children as the parents imply them. */
function childrenOf(
  spans: readonly SpanData[],
  places: ReadonlyMap<string, number>,
): string[][] {
  const children: string[][] = spans.map(() => []);
  for (const span of spans) {
    if (span.parentId === null) continue;
    const parent = places.get(span.parentId);
    if (parent !== undefined) children[parent]?.push(span.id);
  }
  return children;
}

function areEqual(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

function flagsOf(
  span: SpanData,
  traceId: string,
  ownChildren: boolean,
): number {
  let flags = 0;
  if (span.traceId !== traceId) flags |= SPAN_FLAG.traceId;
  if (span.duration !== span.endTime - span.startTime) {
    flags |= SPAN_FLAG.duration;
  }
  if (ownChildren) flags |= SPAN_FLAG.children;
  if (span.events.length > 0) flags |= SPAN_FLAG.events;
  if (span.droppedAttributes !== undefined) {
    flags |= SPAN_FLAG.droppedAttributes;
  }
  if (span.droppedEvents !== undefined) flags |= SPAN_FLAG.droppedEvents;
  return flags;
}

/** Layer and status in one byte. */
function kindOf(span: SpanData): number {
  const layer = LAYERS.indexOf(span.layer);
  const status = STATUSES.indexOf(span.status);
  if (layer < 0 || status < 0) {
    const [field, list] = layer < 0
      ? ["layer", LAYERS] as const
      : ["status", STATUSES] as const;
    throw new TypeError(
      `Cannot pack traces: ${field} of span ${span.id} must be one of ` +
        `${list.join(", ")}, received ${JSON.stringify(span[field])}`,
    );
  }
  return layer * STATUSES.length + status;
}
