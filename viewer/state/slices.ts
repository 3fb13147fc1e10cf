/** The duration of a slice of work, in milliseconds. */
const SLICE = 6;

/**
 * Reads traces in slices, so that the page stays responsive. A damaged trace is
 * left out; opening it shows the error.
 *
 * @param read Called with each item.
 * @param onSlice Called after each slice with the share of read items, which is
 * 1 after the last one.
 * @param start Starts the first slice, such as after the next frame.
 * @returns A function that cancels the rest.
 */
export function readInSlices<Item>(
  items: readonly Item[],
  read: (item: Item) => void,
  onSlice: (share: number) => void,
  start: (slice: () => void) => void,
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
    const isDone = at >= items.length;
    if (!isDone) setTimeout(slice);
    onSlice(isDone ? 1 : at / items.length);
  };
  start(slice);
  return () => {
    isCancelled = true;
  };
}
