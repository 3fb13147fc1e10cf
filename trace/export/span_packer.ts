import type { AttributeValue, SerializedTrace, SpanData } from "../types.ts";
import { describe } from "./describe.ts";
import { LAYERS, STATUSES } from "./layers.ts";
import {
  type Cell,
  DURATION_UNITS,
  numberText,
  TIME_UNITS,
  toCell,
} from "./packed_format.ts";

/** Gives distinct texts numbers, in the order in which they first come. */
export class Numbering {
  readonly #numbers = new Map<string, number>();

  /** The number of `text`. */
  of(text: string): number {
    let number = this.#numbers.get(text);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(text, number);
    }
    return number;
  }

  /** All texts by number. */
  texts(): string[] {
    return [...this.#numbers.keys()];
  }
}

/** What all traces refer to. */
export interface Tables {
  /** Names and values. */
  readonly strings: Numbering;
  /** Lists of attribute keys as JSON. */
  readonly shapes: Numbering;
}

/** The line of `times` of a trace. */
export function packTimes(trace: SerializedTrace): Cell[] {
  let last = trace.startTime;
  return trace.spans.flatMap((span) => {
    const cells = packTime(span, last);
    last = span.startTime;
    return cells;
  });
}

/** Start, end and duration of a span or trace. */
export function packTime(
  timed: Pick<SpanData, "startTime" | "endTime" | "duration">,
  base: number,
): Cell[] {
  const { startTime, endTime, duration } = timed;
  return [
    toCell(startTime, base, TIME_UNITS),
    toCell(endTime, startTime, TIME_UNITS),
    toCell(duration, endTime - startTime, DURATION_UNITS),
  ];
}

/** The line of `spans` of a trace. */
export function packSpans(trace: SerializedTrace, tables: Tables): unknown[] {
  const { spans } = trace;
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
  return spans.map((span, i) => {
    const rest = {
      traceId: span.traceId === trace.id ? undefined : span.traceId,
      children: JSON.stringify(children[i]) === JSON.stringify(span.children)
        ? undefined
        : span.children,
      events: span.events.length === 0
        ? undefined
        : span.events.map(({ name, time, attributes }) => [
          name,
          toCell(time, span.startTime, TIME_UNITS),
          ...attributes ? [packAttributes(attributes, tables)] : [],
        ]),
      droppedAttributes: span.droppedAttributes,
      droppedEvents: span.droppedEvents,
    };
    return [
      tables.strings.of(span.name),
      layerAndStatus(span),
      parents[i],
      packAttributes(span.attributes, tables),
      ...Object.values(rest).some((value) => value !== undefined) ? [rest] : [],
    ];
  });
}

function packAttributes(
  attributes: Readonly<Record<string, AttributeValue>>,
  { strings, shapes }: Tables,
): unknown[] {
  const values = Object.entries(attributes).map(([key, value]) => {
    if (typeof value === "string") return strings.of(value);
    if (typeof value === "number") return numberText(value);
    if (typeof value === "boolean") return value;
    throw new TypeError(
      "Cannot pack traces: attributes must be strings, numbers or booleans, " +
        `received ${describe(value)} as ${JSON.stringify(key)}`,
    );
  });
  return [shapes.of(JSON.stringify(Object.keys(attributes))), ...values];
}

/** Layer and status in one number. */
function layerAndStatus(span: SpanData): number {
  const place = <T>(field: "layer" | "status", list: readonly T[]) => {
    const found = list.indexOf(span[field] as T);
    if (found >= 0) return found;
    throw new TypeError(
      `Cannot pack traces: ${field} of span ${span.id} must be one of ` +
        `${list.join(", ")}, received ${describe(span[field])}`,
    );
  };
  return place("layer", LAYERS) * STATUSES.length + place("status", STATUSES);
}
