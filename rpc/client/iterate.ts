import type { Handlers } from "./subscribe.ts";

const GAP = {};

/**
 * Returns an iterator of a subscription. It subscribes with the first `next()`,
 * unsubscribes with `return()`, and buffers values in between.
 *
 * @param onGap Called at the gap's place among the values.
 */
export function iterate(
  subscribe: (handlers: Handlers) => () => void,
  onGap?: () => void,
): AsyncIterableIterator<unknown> {
  const values: unknown[] = [];
  /** Set at the end; holds the error, if any. */
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
      // Keeps its place among the values.
      onGap: onGap && (() => onData(GAP)),
      onError: end,
      onComplete: end,
      onStop: end,
    });
    try {
      do {
        // All buffered values: shifting them one by one would be quadratic.
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

  // A waiting generator would delay `return()`, so wake it first.
  for (const method of ["return", "throw"] as const) {
    const leave = iterator[method].bind(iterator);
    iterator[method] = (value) => {
      end();
      return leave(value);
    };
  }
  return iterator;
}
