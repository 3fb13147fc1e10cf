/** The duration of a slice of work, in milliseconds. */
const SLICE = 6;

/**
 * Reads traces in slices, so that the page stays responsive. A damaged trace is
 * left out; opening it shows the error.
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
  const slice = () => {
    const begin = performance.now();
    while (at < items.length && performance.now() - begin < SLICE) {
      try {
        read(items[at]!);
      } catch {
        // Damaged.
      }
      at++;
    }
    if (at < items.length) timer = setTimeout(slice);
    else done();
  };
  let timer = setTimeout(slice);
  return () => clearTimeout(timer);
}
