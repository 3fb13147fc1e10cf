import type { Handlers } from "./subscribe.ts";

const GAP = {};

/**
 * Returns an iterator of a subscription. It begins when the first value is asked
 * for and ends with the iterator. Values that nobody has asked for yet are
 * kept.
 *
 * @param onGap Called when the values before the gap have been taken.
 */
export function iterate(
  subscribe: (handlers: Handlers) => () => void,
  onGap?: () => void,
): AsyncIterableIterator<unknown> {
  const values: unknown[] = [];
  /** Empty, or with what failed. */
  let ended: Error[] | undefined;
  let wake: ((again: true) => void) | undefined;

  const end = (...errors: Error[]) => {
    ended ??= errors;
    wake?.(true);
  };

  const iterator = (async function* () {
    const onData = (value: unknown) => {
      values.push(value);
      wake?.(true);
    };
    const stop = subscribe({
      onData,
      // It stands in its place among the values.
      onGap: onGap && (() => onData(GAP)),
      onError: end,
      onComplete: end,
      onStop: end,
    });
    try {
      do {
        // All that have come so far: taking them off one by one would move
        // the others each time.
        for (const value of values.splice(0)) {
          if (value === GAP) onGap!();
          else yield value;
        }
      } while (
        values.length ||
        !ended && await new Promise<boolean>((resolve) => wake = resolve)
      );
    } finally {
      stop();
    }
    if (ended![0]) throw ended![0];
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
