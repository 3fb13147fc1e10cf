/**
 * Bars of the waterfall as CSS gradients: however many pieces a bar has, it is
 * one element.
 *
 * @module
 */

import type { Interval } from "../../trace/export/self_time.ts";
import type { TimeRange } from "./time_range.ts";

/** The place of a bar, in percent of the visible range. */
export interface BarBox {
  /** Its left edge, not far outside of 0 to 100. */
  readonly left: number;
  /** Its width. */
  readonly width: number;
  /** The part of time that the box stands for. */
  readonly range: TimeRange;
}

/** How far a bar is drawn past the edge, to hide its end there. */
const OVERHANG = 0.02;

/** Returns the place of a bar, or `undefined` if it is out of the range. */
export function barBox(
  start: number,
  end: number,
  visible: TimeRange,
): BarBox | undefined {
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
const RESOLUTION = 1 / 400;

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
  const stops = shares.flatMap(([from, to]) => [
    `${off} ${percent(from)}`,
    `${on} ${percent(from)}`,
    `${on} ${percent(to)}`,
    `${off} ${percent(to)}`,
  ]);
  if (stops.length === 0) return `linear-gradient(${off},${off})`;
  return `linear-gradient(90deg,${off} 0%,${stops.join(",")},${off} 100%)`;
}
