/**
 * The layout of packed traces, and what its writer and reader share.
 *
 * The text is base64 of gzip of lines, all but the first of them JSON:
 *
 * ```text
 *  QKT1      the format and its version
 *  shapes    every distinct list of attribute keys
 *  strings   every distinct name and value; cells refer to them by number
 *  heads     trace id, root span id, trace id, …
 *  index     what the list shows of each trace
 *  ids       a line a trace ┐
 *  times     a line a trace ├ a trace is decoded from its three lines
 *  spans     a line a trace ┘ when somebody asks for it
 * ```
 *
 * The last three are columns and not one line a trace because like compresses
 * well beside like: ids are random and would spoil the neighbourhood, rows of
 * `spans` repeat from trace to trace.
 *
 * ```text
 *  ids     the span ids; 0 for the root's
 *  times   of each span: start since the span before · end since start ·
 *          duration beyond end minus start
 *  spans   of each span: [name, layer and status, parent, attributes, rest]
 *  parent  its place · another service's id · null
 *  attributes  [shape, …values]; texts as numbers of strings, numbers as text
 *  rest    an object of what few spans have; absent if there is nothing
 * ```
 *
 * A span's children and its trace id are only written where they aren't what
 * the other fields imply.
 *
 * Times are exact. A double between 2⁴⁰ and 2⁴¹, which is any epoch
 * millisecond from 2004 to 2039, is a whole multiple of 2⁻¹² ms, so the
 * difference of two is a small whole number of that unit (244 ns). A duration
 * comes from a finer clock, and differs from end minus start by a whole number
 * of a smaller unit. A number for which this doesn't hold is written as text.
 *
 * Everything that is read costs at least a byte of payload: work and memory
 * are bounded by the payload's size, whatever it says.
 *
 * @module
 */

/** The first line: the format and its version. */
export const MARK = "QKT1";

/** How much a payload may inflate to, in bytes. */
export const MAX_PAYLOAD = 256 * 1024 * 1024;

/** How many units a millisecond has where a time is written. */
export const TIME_UNITS = 2 ** 12;

/** How many units a millisecond has where a duration is written. */
export const DURATION_UNITS = 2 ** 40;

/** A number: how many units it is from another one, or its text. */
export type Cell = number | string;

/** Any double as text that `Number` reads. */
export function numberText(value: number): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

/** Writes a number that is probably close to `base`. */
export function toCell(value: number, base: number, units: number): Cell {
  const difference = (value - base) * units;
  return Number.isSafeInteger(difference) &&
      Object.is(base + difference / units, value)
    ? difference
    : numberText(value);
}

/** Reads what {@linkcode toCell} wrote. */
export function fromCell(cell: unknown, base: number, units: number): number {
  const value = typeof cell === "number" ? base + cell / units : Number(cell);
  if (!Number.isFinite(value)) throw damaged("a number that isn't finite");
  return value;
}

/** The error for packed traces that aren't what the writer makes. */
export function damaged(what: string): TypeError {
  return new TypeError(
    "Cannot unpack traces: the text must be what packTraces() made, " +
      `received data with ${what}`,
  );
}
