/** A map that forgets the entry that was set first, above a number of entries. */
export class BoundedMap<K, V> {
  readonly #map = new Map<K, V>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  get(key: K): V | undefined {
    return this.#map.get(key);
  }

  set(key: K, value: V): void {
    const isFull = this.#map.size >= this.#max && !this.#map.has(key);
    if (isFull) this.#map.delete(this.#map.keys().next().value!);
    this.#map.set(key, value);
  }

  entries(): Iterable<[K, V]> {
    return this.#map.entries();
  }
}
