/** For how long a result is handed to whoever asks again, in milliseconds. */
const KEEP = 30_000;
/** How many results are kept at least, if there are so many. */
const MAX = 1_000;

interface Result<T> {
  readonly promise: Promise<T>;
  readonly until: number;
}

/**
 * Runs a task once for all who ask under the same key while it runs and shortly
 * afterwards. A task that fails is forgotten.
 */
export class RecentResults<T> {
  #young = new Map<string, Result<T>>();
  #old = new Map<string, Result<T>>();

  /** The result of the task under a key, run if it wasn't lately. */
  get(key: string, now: number, run: () => Promise<T>): Promise<T> {
    const known = this.#young.get(key) ?? this.#old.get(key);
    if (known !== undefined && now < known.until) return known.promise;
    if (this.#young.size >= MAX) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    const result = { promise: run(), until: now + KEEP };
    this.#young.set(key, result);
    result.promise.catch(() => {
      if (this.#young.get(key) === result) this.#young.delete(key);
      if (this.#old.get(key) === result) this.#old.delete(key);
    });
    return result.promise;
  }
}
