import { type Cache, type CacheOptions, createCache } from "@quartet/kit/data";

/** A cache with a clock that the test advances. */
export interface Timed {
  readonly cache: Cache;
  /** Errors passed to `onError`. */
  readonly errors: unknown[];
  /** Advances the clock by this many seconds. */
  pass(seconds: number): void;
}

/** Creates a cache with a manual clock. */
export function timedCache(options: CacheOptions = {}): Timed {
  let time = 1_700_000_000_000;
  const errors: unknown[] = [];
  const cache = createCache({
    now: () => time,
    onError: (error) => errors.push(error),
    ...options,
  });
  return {
    cache,
    errors,
    pass(seconds) {
      time += seconds * 1_000;
    },
  };
}

/** Creates a function that counts its calls and returns their number. */
export function counter(): (() => Promise<number>) & { calls: number } {
  const count = () => Promise.resolve(++count.calls);
  count.calls = 0;
  return count;
}

/** Waits until all pending promise callbacks have run. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await undefined;
}
