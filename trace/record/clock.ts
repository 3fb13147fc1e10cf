/** The clocks of a tracer. Tests pass their own. */
export interface Clock {
  /**
   * Returns milliseconds on a clock that never goes back, from any starting
   * point.
   */
  monotonic(): number;
  /** Returns milliseconds since the Unix epoch. */
  wall(): number;
}

/** The system's clocks. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** The maximum drift between the two clocks, in milliseconds. */
const MAX_DRIFT = 100;

/**
 * Creates what turns monotonic readings into epoch times: `epoch = origin +
 * monotonic`.
 *
 * Spans are measured on the monotonic clock, because the wall clock may be
 * changed. But the monotonic clock stops while a laptop sleeps. So the origin
 * is checked once for each trace, and corrected after a drift.
 *
 * @returns A function that returns the epoch time at which the monotonic clock
 * read 0.
 */
export function createTimeOrigin(clock: Clock): (monotonic: number) => number {
  let known = clock.wall() - clock.monotonic();
  return (monotonic) => {
    const origin = clock.wall() - monotonic;
    if (Math.abs(origin - known) > MAX_DRIFT) known = origin;
    return known;
  };
}
