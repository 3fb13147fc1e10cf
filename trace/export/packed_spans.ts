/**
 * The lines `ids`, `times` and `spans` of a packed trace. Each writer precedes
 * its reader. `packed_format.ts` describes the layout.
 *
 * @module
 */

import { show } from "../../core/check/rules.ts";
import type {
  AttributeValue,
  SerializedTrace,
  SpanData,
  SpanEvent,
} from "../types.ts";
import { LAYERS, STATUSES } from "./semantics.ts";
import {
  type Cell,
  fromCell,
  missing,
  numberText,
  packTime,
  toCell,
  toCount,
  toText,
  unpackTime,
} from "./packed_format.ts";

/** Distinct texts with their numbers, in order of their first use. */
export type StringTable = Map<string, number>;

/** Returns the number of a text, which is added if it isn't in the table. */
export function numberOf(text: string, table: StringTable): number {
  let number = table.get(text);
  if (number === undefined) table.set(text, number = table.size);
  return number;
}

/** The string tables of all traces, while they are written. */
export interface Tables {
  /** Names and values. */
  readonly strings: StringTable;
  /** Lists of attribute keys as JSON. */
  readonly shapes: StringTable;
}

/** The string tables of all traces, as they are read. */
export interface UnpackedTables {
  /** Names and values. */
  readonly strings: readonly unknown[];
  /** Lists of attribute keys. */
  readonly shapes: readonly string[][];
}

/**
 * The lines of a trace. When they are read, their content isn't validated yet.
 */
export interface TraceLines {
  readonly ids: readonly unknown[];
  readonly times: readonly unknown[];
  readonly spans: readonly SpanRow[];
}

type SpanRow = readonly [
  name: number,
  kind: number,
  parent: number | string | null,
  attributes: readonly unknown[],
  rest?: Rest,
];

/** The parts that few spans have. */
interface Rest {
  readonly traceId?: string | undefined;
  readonly children?: readonly string[] | undefined;
  readonly events?: readonly EventRow[] | undefined;
  readonly droppedAttributes?: number | undefined;
  readonly droppedEvents?: number | undefined;
}

type EventRow = readonly [name: string, time: Cell, attributes?: unknown[]];

/** A span that is being read. */
type Draft = { -readonly [Key in keyof SpanData]: SpanData[Key] };

/** The shared empty list of events and children, which saves memory. */
const NONE: readonly never[] = Object.freeze([]);

/** Writes the spans of a trace. */
export function packSpans(trace: SerializedTrace, tables: Tables): TraceLines {
  const { spans, rootSpanId } = trace;
  const places = new Map<string, number>();
  spans.forEach(({ id }, i) => {
    if (!places.has(id)) places.set(id, i);
  });
  const children: string[][] = spans.map(() => []);
  const parents = spans.map(({ id, parentId }) => {
    const place = places.get(parentId!);
    if (place !== undefined) children[place]!.push(id);
    return place ?? parentId;
  });
  return {
    ids: spans.map(({ id }) => id === rootSpanId ? 0 : id),
    times: spans.flatMap((span, i) =>
      packTime(span, (spans[i - 1] ?? trace).startTime)
    ),
    spans: spans.map((span, i): SpanRow => [
      numberOf(span.name, tables.strings),
      packKind(span),
      parents[i]!,
      packAttributes(span.attributes, tables),
      ...packRest(span, trace.id, children[i]!, tables),
    ]),
  };
}

/**
 * Reads the spans of a trace. Opening a large trace waits for this code, which
 * runs once. So it uses indexes instead of destructuring, which is slower
 * before it is compiled.
 */
export function unpackSpans(
  head: Pick<SerializedTrace, "id" | "rootSpanId" | "startTime">,
  { ids, times, spans }: TraceLines,
  tables: UnpackedTables,
): SpanData[] {
  const spanIds = ids.map((id) => id === 0 ? head.rootSpanId : toText(id));
  if (spanIds.length !== spans.length) missing();
  const children: (string[] | undefined)[] = [];
  let last = head.startTime;
  const read = spans.map((row, i) => {
    const parent = row[2];
    const id = spanIds[i]!;
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
      layer: LAYERS[Math.floor(row[1] / STATUSES.length)] ?? missing(),
      status: STATUSES[row[1] % STATUSES.length] ?? missing(),
      startTime,
      endTime,
      duration,
      attributes: unpackAttributes(row[3], tables),
      events: NONE,
      children: NONE,
    };
    if (row[4] !== undefined) unpackRest(span, row[4], tables);
    return span;
  });
  children.forEach((list, i) => {
    if (spans[i]![4]?.children === undefined) read[i]!.children = list!;
  });
  return read;
}

/** Writes layer and status as one number. */
function packKind(span: SpanData): number {
  const place = <T>(field: "layer" | "status", list: readonly T[]) => {
    const found = list.indexOf(span[field] as T);
    if (found >= 0) return found;
    throw new TypeError(
      `Cannot pack traces: ${field} of span ${span.id} must be one of ` +
        `${list.join(", ")}, received ${show(span[field])}`,
    );
  };
  return place("layer", LAYERS) * STATUSES.length + place("status", STATUSES);
}

function packRest(
  span: SpanData,
  traceId: string,
  children: readonly string[],
  tables: Tables,
): [Rest?] {
  const isImplied = JSON.stringify(children) === JSON.stringify(span.children);
  const rest: Rest = {
    traceId: span.traceId === traceId ? undefined : span.traceId,
    children: isImplied ? undefined : span.children,
    events: span.events.length === 0
      ? undefined
      : span.events.map(({ name, time, attributes }): EventRow => {
        const cell = toCell(time, span.startTime);
        return attributes
          ? [name, cell, packAttributes(attributes, tables)]
          : [name, cell];
      }),
    droppedAttributes: span.droppedAttributes,
    droppedEvents: span.droppedEvents,
  };
  return Object.values(rest).some((value) => value !== undefined) ? [rest] : [];
}

function unpackRest(span: Draft, rest: Rest, tables: UnpackedTables): void {
  const { traceId, children, events } = rest;
  if (traceId !== undefined) span.traceId = toText(traceId);
  if (children !== undefined) span.children = children.map(toText);
  if (events !== undefined) {
    span.events = events.map(([name, time, attributes]): SpanEvent => ({
      name: toText(name),
      time: fromCell(time, span.startTime),
      ...attributes && { attributes: unpackAttributes(attributes, tables) },
    }));
  }
  for (const key of ["droppedAttributes", "droppedEvents"] as const) {
    if (rest[key] !== undefined) span[key] = toCount(rest[key]);
  }
}

function packAttributes(
  attributes: SpanData["attributes"],
  { strings, shapes }: Tables,
): unknown[] {
  const values = Object.entries(attributes).map(([key, value]) => {
    if (typeof value === "string") return numberOf(value, strings);
    if (typeof value === "number") return numberText(value);
    if (typeof value === "boolean") return value;
    throw new TypeError(
      "Cannot pack traces: attributes must be strings, numbers or booleans, " +
        `received ${show(value)} as ${JSON.stringify(key)}`,
    );
  });
  const shape = JSON.stringify(Object.keys(attributes));
  return [numberOf(shape, shapes), ...values];
}

function unpackAttributes(
  cells: readonly unknown[],
  { strings, shapes }: UnpackedTables,
): Record<string, AttributeValue> {
  const keys = shapes[cells[0] as number]!;
  // Otherwise, a few bytes for each span could refer to the same thousand keys.
  if (keys.length !== cells.length - 1) missing();
  const attributes: Record<string, AttributeValue> = {};
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i]!;
    const value = unpackValue(cells[i + 1], strings);
    if (key !== "__proto__") attributes[key] = value;
    // Assigning it would change the prototype. Defining all would take longer.
    else Object.defineProperty(attributes, key, { ...OWN_PROPERTY, value });
  }
  return attributes;
}

const OWN_PROPERTY = { enumerable: true, configurable: true, writable: true };

function unpackValue(
  cell: unknown,
  strings: UnpackedTables["strings"],
): AttributeValue {
  if (typeof cell === "boolean") return cell;
  return typeof cell === "string"
    ? Number(cell)
    : toText(strings[cell as number]);
}
