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

/**
 * Compares a duration with earlier durations.
 *
 * @returns `undefined` if they are too few.
 */
export function pastOf(
  duration: number,
  { durations, count, percentileOf }: Times,
) {
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
  return {
    /** The number of earlier runs. */
    count,
    /** The share of them that was faster, from 0 to 1. */
    faster: percentileOf(duration),
    /** The shortest, in milliseconds, also of the span itself. */
    least,
    /** The longest, in milliseconds, also of the span itself. */
    most,
    /**
     * How many runs took how long, from the shortest to the longest, on a
     * logarithmic scale.
     */
    bars,
    /** The bar of the span itself. */
    own: barOf(duration),
  };
}

/** A time for the logarithm. Records aren't more precise than this. */
function scaled(time: number): number {
  return Math.max(time, 0.001);
}
