import type { Handlers } from "./socket.ts";

/**
 * Makes an iterator of a subscription. It begins when the first value is asked
 * for and ends with the iterator. Values that nobody has asked for yet are
 * kept.
 */
export function iterate(
  subscribe: (handlers: Handlers) => () => void,
): AsyncIterableIterator<unknown> {
  let values: unknown[] = [];
  /** Empty, or with what failed. */
  let ended: Error[] | undefined;
  let wake: (() => void) | undefined;

  const end = (...errors: Error[]) => {
    ended ??= errors;
    wake?.();
  };

  const iterator = (async function* () {
    const stop = subscribe({
      onData(value) {
        values.push(value);
        wake?.();
      },
      onError: end,
      onComplete: end,
      onStop: end,
    });
    try {
      for (;;) {
        // All that have come so far: taking them off one by one would move
        // the others each time.
        const taken = values;
        values = [];
        yield* taken;
        if (values.length) continue;
        if (ended) {
          if (ended[0]) throw ended[0];
          return;
        }
        await new Promise<void>((resolve) => wake = resolve);
      }
    } finally {
      stop();
    }
  })();

  // A generator that waits would keep the one waiting who wants it to stop.
  for (const method of ["return", "throw"] as const) {
    const leave = iterator[method].bind(iterator);
    iterator[method] = (value) => {
      end();
      return leave(value);
    };
  }
  return iterator;
}
