import { type Cache, type CacheOptions, createCache } from "@quartet/kit/data";

/** A cache whose time stands still until a test moves it. */
export interface Timed {
  readonly cache: Cache;
  /** What went wrong behind the callers' backs. */
  readonly errors: unknown[];
  /** Moves the time on, by seconds. */
  pass(seconds: number): void;
}

/** Makes such a cache. */
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

/** A function that counts its calls and gives their number. */
export function counter(): (() => Promise<number>) & { calls: number } {
  const count = () => Promise.resolve(++count.calls);
  count.calls = 0;
  return count;
}

/** Lets everything run that only waits for promises. */
export async function settle(): Promise<void> {
  for (let i = 0; i < 50; i++) await undefined;
}
