/**
 * Whether a server's memory grows without bound.
 *
 * @module
 */

/** What a server held when it had answered so many requests. */
export interface MemorySample {
  readonly requests: number;
  /** In bytes. */
  readonly rss: number;
  /** What was alive in the heap, in bytes. */
  readonly heap: number;
}

/** What came of a kind of memory. */
export interface Growth {
  /** The least in each of the three thirds of the samples, in bytes. */
  readonly thirds: readonly [number, number, number];
  /** Bytes that it has grown by for each thousand requests, at the end. */
  readonly perThousand: number;
  /** Whether that is more than can be explained. */
  readonly isUnbounded: boolean;
}

/** Fewer samples than these tell nothing. */
export const ENOUGH_SAMPLES = 12;

/**
 * How much more there may be in the last third than in the middle one, in
 * bytes. In the first third the ring of traces, the caches and the tables fill
 * up. `slack` is for code that is compiled late and, of RSS, for an allocator
 * that gives nothing back; over some ten thousand requests it is less than one
 * small object for each.
 */
const ALLOWED = {
  heap: { slack: 2 * 1024 ** 2, perRequest: 8 },
  rss: { slack: 32 * 1024 ** 2, perRequest: 64 },
};

/**
 * Compares the last third of a series with the middle one.
 *
 * @returns `undefined` if there are too few samples.
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
  // What is there for a moment, such as the memory that a password's hash
  // takes, is in some of the samples; what is left behind is in all of them.
  const [first, middle, last] = parts.map((part) =>
    Math.min(...part.map((sample) => sample[kind]))
  ) as [number, number, number];
  const requests = mean(parts[2]!) - mean(parts[1]!);
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
