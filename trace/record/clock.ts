/** Where a tracer reads the time. Tests pass one of their own. */
export interface Clock {
  /** Milliseconds on a clock that never goes back, from any starting point. */
  monotonic(): number;
  /** Milliseconds since the Unix epoch. */
  wall(): number;
}

/** The clocks of the machine. */
export const systemClock: Clock = {
  monotonic: () => performance.now(),
  wall: () => Date.now(),
};

/** How far the two clocks may drift apart before epoch times follow, in ms. */
const MAX_DRIFT = 100;

/**
 * Turns monotonic readings into epoch times: `epoch = origin + monotonic`.
 *
 * Spans are measured on the monotonic clock, since the wall clock may be set
 * in between. But the monotonic one stands still while a laptop sleeps, so the
 * origin is checked once a trace and moved when the clocks have parted.
 */
export class TimeOrigin {
  readonly #clock: Clock;
  #origin: number;

  /** Takes the difference of the two clocks as it is now. */
  constructor(clock: Clock) {
    this.#clock = clock;
    this.#origin = clock.wall() - clock.monotonic();
  }

  /** The epoch time at which the monotonic clock read 0. */
  current(monotonic: number): number {
    const origin = this.#clock.wall() - monotonic;
    if (Math.abs(origin - this.#origin) > MAX_DRIFT) this.#origin = origin;
    return this.#origin;
  }
}
