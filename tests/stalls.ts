/**
 * Repeats tests of real time limits if the machine stalled. With a timeout of a
 * second, a server that gets no processor for a second looks like one that is
 * down.
 *
 * @module
 */

import { readFileSync } from "node:fs";

/** Tests may replace the globals. */
const { setInterval, clearInterval } = globalThis;
const now = performance.now.bind(performance);

/** The pause between two looks at the clock, in milliseconds. */
const TICK = 5;
/** A machine that is late by more has stalled, in milliseconds. */
const STALL = 50;
/** Maximum attempts. */
const ATTEMPTS = 3;

/** Looks for stalls until the end of its block. */
export interface StallWatch extends Disposable {
  /**
   * The longest stall so far, or the total time that something waited for a disk,
   * in milliseconds.
   */
  readonly longest: number;
}

/**
 * Returns a test that runs again if it failed while the machine stalled, since that
 * proves nothing. A failure counts if the machine kept up, or in the last attempt.
 *
 * @param test Must start anew each time, with servers of its own.
 */
export function unlessStalled(
  test: () => Promise<void>,
  watch: () => StallWatch = watchStalls,
): () => Promise<void> {
  return async () => {
    for (let attempt = 1;; attempt++) {
      using stalls = watch();
      try {
        return await test();
      } catch (error) {
        const { longest } = stalls;
        if (attempt === ATTEMPTS || longest < STALL) throw error;
        console.warn(
          `The machine stalled for ${longest} ms. Repeating a test that failed: ${error}`,
        );
      }
    }
  };
}

/** Looks for timers that are late, and on Linux for time spent on waiting. */
export function watchStalls(): StallWatch {
  const waited = waitingTime();
  let longest = 0;
  let last = now();
  const look = () => {
    const time = now();
    longest = Math.max(longest, Math.round(time - last - TICK));
    last = time;
  };
  const timer = setInterval(look, TICK);
  return {
    get longest() {
      look();
      return Math.max(longest, waitingTime() - waited);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/**
 * Returns for how long some process has waited for a disk since the system
 * started, in milliseconds.
 */
function waitingTime(): number {
  try {
    const text = readFileSync("/proc/pressure/io", "utf8");
    return Math.round(Number(/some .*total=(\d+)/.exec(text)![1]) / 1_000);
  } catch {
    // Only some Linux systems tell.
    return 0;
  }
}
