/** An entry of an {@linkcode LRUList}, which links to its neighbours. */
export interface LRUEntry<T> {
  /** The entry that was used next after this one. */
  newer: T | undefined;
  /** The entry that was used last before this one. */
  older: T | undefined;
}

/**
 * A linked list of entries by last use, for least-recently-used (LRU) eviction.
 *
 * It doesn't use the order of a `Map`: in V8, deleting and setting one hot key of
 * 10,000 takes 50 µs.
 *
 * ```
 * oldest ⇄ … ⇄ newest        use(entry): to the right end
 * ```
 */
export class LRUList<T extends LRUEntry<T>> {
  #newest: T | undefined;
  #oldest: T | undefined;
  #size = 0;

  /** The number of entries. */
  get size(): number {
    return this.#size;
  }

  /** The least recently used entry. */
  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Adds an entry that is in no list, as the most recently used one. */
  add(entry: T): void {
    const next = this.#newest;
    entry.older = next;
    if (next === undefined) this.#oldest = entry;
    else next.newer = entry;
    this.#newest = entry;
    this.#size++;
  }

  /** Makes an entry in the list the most recently used one. */
  use(entry: T): void {
    if (entry === this.#newest) return;
    this.delete(entry);
    this.add(entry);
  }

  /** Removes an entry from the list. */
  delete(entry: T): void {
    const { newer, older } = entry;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    entry.newer = entry.older = undefined;
    this.#size--;
  }

  /** Removes all entries. */
  clear(): void {
    this.#newest = this.#oldest = undefined;
    this.#size = 0;
  }

  /** Yields the entries from the oldest on. No entry may be removed meanwhile. */
  *[Symbol.iterator](): Generator<T> {
    for (let entry = this.#oldest; entry !== undefined; entry = entry.newer) {
      yield entry;
    }
  }
}
