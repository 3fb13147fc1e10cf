/**
 * Detects unbounded growth of memory.
 *
 * @module
 */

/** Memory of a server after a number of requests. */
export interface MemorySample {
  readonly requests: number;
  /** Resident set size, in bytes. */
  readonly rss: number;
  /** Live objects in the heap, in bytes. */
  readonly heap: number;
}

/** Growth of the heap or of the RSS. */
export interface Growth {
  /** Minimum of each third of the samples, in bytes. */
  readonly thirds: readonly [number, number, number];
  /** Growth per thousand requests between the last two thirds, in bytes. */
  readonly perThousand: number;
  /** Whether the growth exceeds the allowed amount. */
  readonly isUnbounded: boolean;
}

/** Minimum number of samples. */
export const ENOUGH_SAMPLES = 12;
/**
 * Minimum number of requests between the last two thirds. With fewer, traces and
 * caches still fill up in the last third, as in a short soak of a slow machine.
 */
const ENOUGH_REQUESTS = 1_000;

/**
 * Allowed growth from the second third to the last, in bytes. Traces, caches
 * and tables fill up in the first third. `slack` covers code that is compiled
 * late and, for RSS, an allocator that keeps freed memory. Over ten thousand
 * requests, that is less than one small object per request.
 */
const ALLOWED = {
  heap: { slack: 2 * 1024 ** 2, perRequest: 8 },
  rss: { slack: 32 * 1024 ** 2, perRequest: 64 },
};

/**
 * Compares the last third of a series with the middle one.
 *
 * @returns `undefined` if there are too few samples or requests.
 */
export function growthOf(
  kind: keyof typeof ALLOWED,
  samples: readonly MemorySample[],
): Growth | undefined {
  if (samples.length < ENOUGH_SAMPLES) return undefined;
  const third = Math.floor(samples.length / 3);
  const parts = [
    samples.slice(0, -2 * third),
    samples.slice(-2 * third, -third),
    samples.slice(-third),
  ];
  // Use minima: temporary memory, such as for a password hash, is in some
  // samples. Leaked memory is in all of them.
  const [first, middle, last] = parts.map((part) =>
    Math.min(...part.map((sample) => sample[kind]))
  ) as [number, number, number];
  const requests = mean(parts[2]!) - mean(parts[1]!);
  if (requests < ENOUGH_REQUESTS) return undefined;
  const { slack, perRequest } = ALLOWED[kind];
  return {
    thirds: [first, middle, last],
    perThousand: (last - middle) / requests * 1000,
    isUnbounded: last - middle > slack + perRequest * requests,
  };
}

function mean(samples: readonly MemorySample[]): number {
  return samples.reduce((sum, { requests }) => sum + requests, 0) /
    samples.length;
}
