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
type SpanRow = [
  name: number,
  kind: number,
  parent: number | string | null,
  attributes: unknown[],
  rest?: {
    traceId?: string;
    children?: string[];
    events?: [name: string, time: unknown, attributes?: unknown[]][];
    droppedAttributes?: number;
    droppedEvents?: number;
  },
];

/** A span that is being read. */
type Draft = { -readonly [Key in keyof SpanData]: SpanData[Key] };

/** Reads what `packSpans` and `packTimes` wrote for one trace. */
export function unpackSpans(
  head: { id: string; rootSpanId: string; startTime: number },
  { ids, times, spans }: Lines,
  tables: UnpackedTables,
): SpanData[] {
  const spanIds = ids.map((id) => id === 0 ? head.rootSpanId : toText(id));
  const children: string[][] = spans.map(() => []);
  let last = head.startTime;
  const read = spans.map(([name, kind, parent, attributes, rest = {}], i) => {
    const { startTime, endTime, duration } = unpackTime(times, i * 3, last);
    last = startTime;
    let parentId = parent as string | null;
    if (typeof parent === "number") {
      parentId = toText(spanIds[parent]);
      children[parent]!.push(toText(spanIds[i]));
    }
    const span: Draft = {
      id: toText(spanIds[i]),
      traceId: toText(rest.traceId ?? head.id),
      parentId: parentId === null ? null : toText(parentId),
      name: toText(tables.strings[name]),
      layer: LAYERS[Math.floor(kind / STATUSES.length)] ?? missing(),
      status: STATUSES[kind % STATUSES.length] ?? missing(),
      startTime,
      endTime,
      duration,
      attributes: unpackAttributes(attributes, tables),
      events: (rest.events ?? []).map((
        [name, time, attributes],
      ): SpanEvent => ({
        name: toText(name),
        time: fromCell(time, startTime, TIME_UNITS),
        ...attributes && { attributes: unpackAttributes(attributes, tables) },
      })),
      children: rest.children?.map(toText) ?? children[i]!,
    };
    for (const key of ["droppedAttributes", "droppedEvents"] as const) {
      if (rest[key] !== undefined) span[key] = toCount(rest[key]);
    }
    return span;
  });
  if (spanIds.length !== read.length) missing();
  return read;
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
  keys.forEach((key, i) => {
    const value = cells[i + 1];
    setOwn(
      attributes,
      key,
      typeof value === "boolean"
        ? value
        : typeof value === "string"
        ? Number(value)
        : toText(strings[value as number]),
    );
  });
  return attributes;
}
