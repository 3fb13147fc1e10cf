/** What a {@linkcode RecencyList} keeps: entries that know their neighbours. */
export interface Linked<T> {
  /** The entry that was used next after this one. */
  newer: T | undefined;
  /** The entry that was used last before this one. */
  older: T | undefined;
}

/**
 * Entries in the order of their last use.
 *
 * ```
 *   newest ⇄ entry ⇄ entry ⇄ … ⇄ oldest
 * ```
 *
 * To delete and set a key again, to have it last in a `Map`, leaves a hole each
 * time, and V8 takes 50 µs to find its way around them in a map of 10,000.
 */
export class RecencyList<T extends Linked<T>> {
  #newest: T | undefined;
  #oldest: T | undefined;

  /** The entry that was longest not used. */
  get oldest(): T | undefined {
    return this.#oldest;
  }

  /** Adds an entry that is in no list. */
  add(entry: T): void {
    const next = this.#newest;
    entry.older = next;
    if (next === undefined) this.#oldest = entry;
    else next.newer = entry;
    this.#newest = entry;
  }

  /** Notes that an entry of the list is used. */
  use(entry: T): void {
    if (entry === this.#newest) return;
    this.delete(entry);
    this.add(entry);
  }

  /** Takes an entry out of the list. */
  delete(entry: T): void {
    const { newer, older } = entry;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    entry.newer = entry.older = undefined;
  }

  /** Lets go of all entries. */
  clear(): void {
    this.#newest = this.#oldest = undefined;
  }
}
