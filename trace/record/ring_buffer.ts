/**
 * A list of fixed capacity. When it is full, a new item replaces the oldest.
 *
 * `#next` is the index for the next item. In a full array, the oldest one is
 * there.
 */
export class RingBuffer<T> implements Iterable<T> {
  /** The maximum number of items. */
  readonly capacity: number;
  readonly #items: T[] = [];
  #next = 0;

  /** Creates an empty buffer for `capacity` items. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** Adds an item. In a full buffer, it replaces the oldest one. */
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
