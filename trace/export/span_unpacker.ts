import type { AttributeValue, SpanData, SpanEvent } from "../types.ts";
import { LAYERS, STATUSES } from "./layers.ts";
import { setOwn } from "./own_property.ts";
import {
  damaged,
  DURATION_UNITS,
  fromCell,
  TIME_UNITS,
} from "./packed_format.ts";

/** What all traces refer to. */
export interface UnpackedTables {
  /** Names and values. */
  readonly strings: readonly unknown[];
  /** Lists of attribute keys. */
  readonly shapes: readonly string[][];
}

/** The parsed lines of a trace. Nothing is known of what is in them. */
interface Lines {
  readonly ids: readonly unknown[];
  readonly times: readonly unknown[];
  readonly spans: readonly SpanRow[];
}

/** A span as the writer writes it. */
type SpanRow = readonly [
  name: number,
  kind: number,
  parent: number | string | null,
  attributes: unknown[],
  rest?: Rest,
];

/** What few spans have. */
interface Rest {
  readonly traceId?: string;
  readonly children?: string[];
  readonly events?: [name: string, time: unknown, attributes?: unknown[]][];
  readonly droppedAttributes?: number;
  readonly droppedEvents?: number;
}

/** A span that is being read. */
type Draft = { -readonly [Key in keyof SpanData]: SpanData[Key] };

/** The events or children of all who have none: a list each adds up. */
const NONE: readonly never[] = Object.freeze([]);

/**
 * Reads what `packSpans` and `packTimes` wrote for one trace.
 *
 * It is what opening a large trace waits for, and runs once: so it goes by
 * places rather than by patterns, which cost more until they are compiled.
 */
export function unpackSpans(
  head: { id: string; rootSpanId: string; startTime: number },
  { ids, times, spans }: Lines,
  tables: UnpackedTables,
): SpanData[] {
  const spanIds = ids.map((id) => id === 0 ? head.rootSpanId : toText(id));
  const children: (string[] | undefined)[] = [];
  let last = head.startTime;
  const read = spans.map((row, i) => {
    const kind = row[1];
    const parent = row[2];
    const id = spanIds[i] ?? missing();
    let parentId = parent as string | null;
    if (typeof parent === "number") {
      parentId = spanIds[parent] ?? missing();
      (children[parent] ??= []).push(id);
    } else if (parent !== null) toText(parent);
    const { startTime, endTime, duration } = unpackTime(times, i * 3, last);
    last = startTime;
    const span: Draft = {
      id,
      traceId: head.id,
      parentId,
      name: toText(tables.strings[row[0]]),
      layer: LAYERS[Math.floor(kind / STATUSES.length)] ?? missing(),
      status: STATUSES[kind % STATUSES.length] ?? missing(),
      startTime,
      endTime,
      duration,
      attributes: unpackAttributes(row[3], tables),
      events: NONE,
      children: NONE,
    };
    if (row[4] !== undefined) addRest(span, row[4], tables);
    return span;
  });
  if (spanIds.length !== read.length) missing();
  children.forEach((list, i) => {
    if (spans[i]![4]?.children === undefined) read[i]!.children = list!;
  });
  return read;
}

function addRest(span: Draft, rest: Rest, tables: UnpackedTables): void {
  const { traceId, children, events } = rest;
  if (traceId !== undefined) span.traceId = toText(traceId);
  if (children !== undefined) span.children = children.map(toText);
  if (events !== undefined) {
    span.events = events.map(([name, time, attributes]): SpanEvent => ({
      name: toText(name),
      time: fromCell(time, span.startTime, TIME_UNITS),
      ...attributes && { attributes: unpackAttributes(attributes, tables) },
    }));
  }
  for (const key of ["droppedAttributes", "droppedEvents"] as const) {
    if (rest[key] !== undefined) span[key] = toCount(rest[key]);
  }
}

/** Reads what `packTime` wrote to three cells from `at` on. */
export function unpackTime(
  cells: readonly unknown[],
  at: number,
  base: number,
): Pick<SpanData, "startTime" | "endTime" | "duration"> {
  const startTime = fromCell(cells[at], base, TIME_UNITS);
  const endTime = fromCell(cells[at + 1], startTime, TIME_UNITS);
  return {
    startTime,
    endTime,
    duration: fromCell(cells[at + 2], endTime - startTime, DURATION_UNITS),
  };
}

/** The same value if it is a text. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : missing();
}

/** The same value if it is a number. */
export function toCount(value: unknown): number {
  return Number.isFinite(value) ? value as number : missing();
}

function missing(): never {
  throw damaged("parts missing");
}

function unpackAttributes(
  cells: readonly unknown[],
  { strings, shapes }: UnpackedTables,
): Record<string, AttributeValue> {
  const keys = shapes[cells[0] as number]!;
  // Otherwise a few bytes a span could ask for the same thousand keys.
  if (keys.length !== cells.length - 1) missing();
  const attributes: Record<string, AttributeValue> = {};
  for (let i = 0; i < keys.length; i++) {
    const value = cells[i + 1];
    setOwn(
      attributes,
      keys[i]!,
      typeof value === "boolean"
        ? value
        : typeof value === "string"
        ? Number(value)
        : toText(strings[value as number]),
    );
  }
  return attributes;
}
