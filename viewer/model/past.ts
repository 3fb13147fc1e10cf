/**
 * Compares a span with its earlier runs.
 *
 * @module
 */

import type { Times } from "./history.ts";

/** The least number of earlier runs to compare with. */
const MIN_RUNS = 10;

/** The number of bars of a distribution. */
const BARS = 24;

/** The earlier runs of a span. */
export interface Past {
  /** How many there are. */
  readonly count: number;
  /** The share of them that was faster, from 0 to 1. */
  readonly faster: number;
  /** The shortest, in milliseconds, also of the span itself. */
  readonly least: number;
  /** The longest, in milliseconds, also of the span itself. */
  readonly most: number;
  /**
   * How many runs took how long, from the shortest to the longest, on a
   * logarithmic scale.
   */
  readonly bars: readonly number[];
  /** The bar of the span itself. */
  readonly own: number;
}

/**
 * Compares a duration with earlier durations.
 *
 * @returns `undefined` if they are too few.
 */
export function pastOf(
  duration: number,
  { durations, count, percentileOf }: Times,
): Past | undefined {
  if (count < MIN_RUNS) return undefined;
  const least = Math.min(durations[0]!, duration);
  const most = Math.max(durations.at(-1)!, duration);
  const length = Math.log(scaled(most) / scaled(least)) || 1;
  const barOf = (time: number) =>
    Math.min(
      Math.floor(Math.log(scaled(time) / scaled(least)) / length * BARS),
      BARS - 1,
    );
  const bars = Array<number>(BARS).fill(0);
  for (const time of durations) bars[barOf(time)]! += 1;
  const faster = percentileOf(duration);
  return { count, faster, least, most, bars, own: barOf(duration) };
}

/** A time for the logarithm. Records aren't more precise than this. */
function scaled(time: number): number {
  return Math.max(time, 0.001);
}
