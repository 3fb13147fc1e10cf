import { afterPaint } from "../dom.ts";

/** The duration of a slice of work, in milliseconds. */
const SLICE = 6;

/**
 * Reads traces in slices after the next frame, so that the page stays
 * responsive. A damaged trace is left out; opening it shows the error.
 *
 * @param read Called with each item.
 * @param done Called after the last one.
 * @returns A function that cancels the rest.
 */
export function readInSlices<Item>(
  items: readonly Item[],
  read: (item: Item) => void,
  done: () => void,
): () => void {
  let at = 0;
  let isCancelled = false;
  const slice = () => {
    if (isCancelled) return;
    const begin = performance.now();
    while (at < items.length && performance.now() - begin < SLICE) {
      try {
        read(items[at]!);
      } catch {
        // Damaged.
      }
      at++;
    }
    if (at < items.length) setTimeout(slice);
    else done();
  };
  afterPaint(slice);
  return () => {
    isCancelled = true;
  };
}
