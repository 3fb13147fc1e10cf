/**
 * A list of fixed capacity: the newest item takes the place of the oldest.
 *
 * The items stand in one array; `#next` is where the next one goes, and, once
 * the array is full, where the oldest one is.
 */
export class RingBuffer<T> implements Iterable<T> {
  /** How many items fit. */
  readonly capacity: number;
  readonly #items: T[] = [];
  #next = 0;

  /** Makes an empty buffer for `capacity` items. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Adds an item, in place of the oldest one if there is no room. */
  push(item: T): void {
    this.#items[this.#next] = item;
    this.#next = (this.#next + 1) % this.capacity;
  }

  /** The items, oldest first. */
  *[Symbol.iterator](): Iterator<T> {
    const { length } = this.#items;
    const oldest = length < this.capacity ? 0 : this.#next;
    for (let i = 0; i < length; i++) {
      yield this.#items[(oldest + i) % length]!;
    }
  }
}
