/**
 * The visible time range of the waterfall, its axis, and its bars as CSS
 * gradients. A bar is one element, with any number of pieces.
 *
 * @module
 */

import type { Interval } from "../../trace/export/self_time.ts";
import { clamp, roundUp } from "./numbers.ts";

/** A range of time, in epoch milliseconds. */
export interface TimeRange {
  /** Its start. */
  readonly start: number;
  /** Its end, later than the start. */
  readonly end: number;
}

/** The shortest range, in milliseconds. Records aren't more precise. */
const MIN_LENGTH = 0.002;

/** Returns a range, extended if it is empty. */
export function wholeRange(start: number, end: number): TimeRange {
  return { start, end: Math.max(end, start + MIN_LENGTH) };
}

/** Returns the range between two moments in any order, kept within bounds. */
export function clampRange(
  a: number,
  b: number,
  bounds: TimeRange,
): TimeRange {
  const whole = bounds.end - bounds.start;
  const length = clamp(Math.abs(b - a), MIN_LENGTH, whole);
  const start = clamp(Math.min(a, b), bounds.start, bounds.end - length);
  return { start, end: start + length };
}

/**
 * Returns a range zoomed around a moment, which stays in place.
 *
 * @param factor Below 1 to zoom in, above 1 to zoom out.
 */
export function zoomRange(
  { start, end }: TimeRange,
  factor: number,
  about: number,
  bounds: TimeRange,
): TimeRange {
  const moved = (time: number) => about + (time - about) * factor;
  return clampRange(moved(start), moved(end), bounds);
}

/** Returns a range moved by a share of its length; negative is earlier. */
export function panRange(
  { start, end }: TimeRange,
  share: number,
  bounds: TimeRange,
): TimeRange {
  const by = (end - start) * share;
  return clampRange(start + by, end + by, bounds);
}

/** Whether a range lies within another one. */
export function isWithin(part: TimeRange, whole: TimeRange): boolean {
  return part.start >= whole.start && part.end <= whole.end;
}

/** Returns the text of a range for the URL, such as `12.5-40`; empty for none. */
export function formatZoom(range: TimeRange | undefined): string {
  const times = range === undefined ? [] : [range.start, range.end];
  return times.map((time) => String(Number(time.toFixed(3)))).join("-");
}

/** Reads {@linkcode formatZoom}. `undefined` if the text isn't a range. */
export function parseZoom(text: string): TimeRange | undefined {
  const found = /^(-?\d{1,12}(?:\.\d{1,6})?)-(-?\d{1,12}(?:\.\d{1,6})?)$/
    .exec(text);
  if (found === null) return undefined;
  const [start, end] = [Number(found[1]), Number(found[2])];
  return start < end ? { start, end } : undefined;
}

/**
 * Returns round places on the axis: 1, 2 or 5 times a power of ten apart, all
 * in the same unit with the same number of digits. `value` is in milliseconds
 * since the zero of the axis, `at` the position from 0 to 1.
 *
 * @param origin The zero of the axis, in epoch milliseconds.
 * @param wanted The approximate number of places.
 */
export function axisTicks(range: TimeRange, origin: number, wanted: number) {
  const length = range.end - range.start;
  const step = roundUp(length / Math.max(wanted, 1));
  const from = range.start - origin;
  const first = Math.ceil(from / step);
  const last = Math.floor((range.end - origin) / step);
  const label = labeller(
    step,
    Math.max(Math.abs(from), Math.abs(from + length)),
  );
  const count = clamp(last - first + 1, 0, 100);
  return Array.from({ length: count }, (_, i) => {
    const value = (first + i) * step;
    return { value, at: (value - from) / length, label: label(value) };
  });
}

function labeller(step: number, largest: number): (ms: number) => string {
  const [unit, size] = largest >= 2000
    ? ["s", 1000]
    : largest >= 1
    ? ["ms", 1]
    : ["µs", 0.001];
  const digits = Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9));
  return (ms) => `${(ms / size).toFixed(digits)} ${unit}`;
}

/** The length of a bar beyond the edge, to hide its end there. */
const OVERHANG = 0.02;

/**
 * Returns the position of a bar in percent of the visible range, and its part
 * of the time. The edges aren't far outside 0 to 100.
 *
 * @returns `undefined` if it is out of the range.
 */
export function barBox(start: number, end: number, visible: TimeRange) {
  const length = visible.end - visible.start;
  const from = Math.max(start, visible.start - length * OVERHANG);
  const to = Math.min(end, visible.end + length * OVERHANG);
  if (to < from) return undefined;
  return {
    left: ((from - visible.start) / length) * 100,
    width: ((to - from) / length) * 100,
    range: { start: from, end: to },
  };
}

/** The finest piece that is drawn, as a share of the bar. */
const RESOLUTION = 1 / 250;

/**
 * Returns a gradient with hard edges that is `on` within intervals and `off`
 * elsewhere. Intervals closer than can be seen are drawn as one.
 */
export function stripes(
  intervals: readonly Interval[],
  { start, end }: TimeRange,
  on: string,
  off: string,
): string {
  const length = end - start || 1;
  const shares: [number, number][] = [];
  for (const interval of intervals) {
    const from = Math.max((interval[0] - start) / length, 0);
    const to = Math.min((interval[1] - start) / length, 1);
    if (to <= from) continue;
    const last = shares.at(-1);
    if (last !== undefined && from - last[1] < RESOLUTION) {
      last[1] = Math.max(last[1], to);
    } else shares.push([from, Math.max(to, from + RESOLUTION)]);
  }
  const percent = (share: number) => `${(share * 100).toFixed(2)}%`;
  if (shares.length === 0) return `linear-gradient(${off},${off})`;
  let before = "0%";
  const stops = shares.flatMap(([from, to]) => {
    const [begin, end] = [percent(from), percent(to)];
    const pair = [`${off} ${before} ${begin}`, `${on} ${begin} ${end}`];
    before = end;
    return pair;
  });
  return `linear-gradient(90deg,${stops.join(",")},${off} ${before} 100%)`;
}
