/**
 * The layout of packed traces, and its cells.
 *
 * The text is base64 of gzip of lines. All but the first are JSON:
 *
 * ```text
 *  QKT1      the format and its version
 *  shapes    every distinct list of attribute keys     ┐ string tables: cells
 *  strings   every distinct name and value             ┘ refer to them by number
 *  heads     trace id, root span id, trace id, …
 *  index     a row a trace: time, name, spans, errors, layers, metadata,
 *            facts; files without the last are valid
 *  ids       a line a trace ┐
 *  times     a line a trace ├ a trace is decoded from its three lines
 *  spans     a line a trace ┘ when somebody asks for it
 *
 *  time         start since the one before · end since start ·
 *               duration beyond end minus start
 *  ids          the span ids; 0 for the root's
 *  times        the time of each span
 *  spans        of each span: [name, layer and status, parent, attributes, rest?]
 *  parent       its place in the trace · an id outside of it · null
 *  attributes   [shape, …values]; texts as numbers of strings, numbers as text
 *  rest         an object of what few spans have
 * ```
 *
 * The last three are columns, because similar values compress well together:
 * ids are random, and rows of `spans` repeat from trace to trace. A span's
 * children and trace id are only written if the other fields don't imply them.
 *
 * Times are exact. A double between 2⁴⁰ and 2⁴¹, which is any epoch millisecond
 * from 2004 to 2039, is a whole multiple of 2⁻¹² ms. So the difference of two
 * is a small whole number of that unit (244 ns). A duration comes from a finer
 * clock, and differs from end minus start by a whole number of a smaller unit.
 * Any other number is written as text.
 *
 * Each value that is read takes at least a byte of payload. So the payload's
 * size bounds work and memory, even for a hostile file.
 *
 * @module
 */

import { checkValue } from "../../core/check/options.ts";
import { finiteNumbers } from "../../core/check/rules.ts";
import type { SpanData } from "../types.ts";

/** The first line: the format and its version. */
export const MARK = "QKT1";

/** The number of lines before the lines of traces. */
export const HEAD_LINES = 5;

/** Maximum bytes of an inflated payload. */
export const MAX_PAYLOAD = 256 * 1024 * 1024;

/** The units of a millisecond in a time. */
const TIME_UNITS = 2 ** 12;

/** The units of a millisecond in a duration. */
const DURATION_UNITS = 2 ** 40;

/** A number: its distance from another one in units, or its text. */
export type Cell = number | string;

/** Start, end and duration of a span or trace. */
export type Times = Pick<SpanData, "startTime" | "endTime" | "duration">;

/** Returns any double as text that `Number` reads. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/**
 * Writes a number that is probably close to `base`.
 *
 * @throws {TypeError} If it isn't finite.
 */
export function toCell(value: number, base: number, units = TIME_UNITS): Cell {
  checkValue(value, "times", finiteNumbers, "pack traces");
  const difference = (value - base) * units;
  return Number.isSafeInteger(difference) &&
      Object.is(base + difference / units, value)
    ? difference
    : numberText(value);
}

/** Reads what {@linkcode toCell} wrote. */
export function fromCell(
  cell: unknown,
  base: number,
  units = TIME_UNITS,
): number {
  const value = typeof cell === "number" ? base + cell / units : Number(cell);
  if (!Number.isFinite(value)) throw damaged("a number that isn't finite");
  return value;
}

/** Writes a time as three cells. */
export function packTime(
  { startTime, endTime, duration }: Times,
  base: number,
): Cell[] {
  return [
    toCell(startTime, base),
    toCell(endTime, startTime),
    toCell(duration, endTime - startTime, DURATION_UNITS),
  ];
}

/** Reads what {@linkcode packTime} wrote to three cells from `at` on. */
export function unpackTime(
  cells: readonly unknown[],
  at: number,
  base: number,
): Times {
  const startTime = fromCell(cells[at], base);
  const endTime = fromCell(cells[at + 1], startTime);
  const duration = fromCell(
    cells[at + 2],
    endTime - startTime,
    DURATION_UNITS,
  );
  return { startTime, endTime, duration };
}

/** Returns the value if it is a text. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : missing();
}

/** Returns the value if it is a number. */
export function toCount(value: unknown): number {
  return Number.isFinite(value) ? value as number : missing();
}

/** Throws the error for incomplete packed traces. */
export function missing(): never {
  throw damaged("parts missing");
}

/** Returns the error for other text than packed traces. */
export function damaged(what: string): TypeError {
  return new TypeError(
    `Cannot unpack traces: the text must be what packTraces() made, received data with ${what}`,
  );
}
