/** Options of a {@linkcode GenerationMap}. */
interface GenerationMapOptions<K, V> {
  /** Maximum entries, of both generations together. */
  readonly maxSize: number;
  /**
   * Time after which `advance()` starts a generation, in the unit of its
   * argument. Default: `Infinity`.
   */
  readonly lifetime?: number;
  /** Returns how many entries a value counts as. Default: 1. */
  readonly weigh?: (value: V) => number;
  /** Called with each generation that is forgotten. */
  readonly onForget?: (generation: ReadonlyMap<K, V>) => void;
}

/**
 * A bounded map that forgets entries without recent use. It needs no timers,
 * searches or links between entries.
 *
 * ```
 * set, get ─► young ──full, or a lifetime is over──► old ──next time──► gone
 *               ▲                                     │
 *               └────────────── get ──────────────────┘
 * ```
 *
 * An entry outlives at least one full generation or lifetime after its last use,
 * and at most two.
 */
export class GenerationMap<K, V> {
  readonly #maxYoung: number;
  readonly #lifetime: number;
  readonly #weigh: (value: V) => number;
  readonly #onForget: ((generation: ReadonlyMap<K, V>) => void) | undefined;
  #young = new Map<K, V>();
  #old = new Map<K, V>();
  #weight = 0;
  #rotatesAt = 0;

  /** Creates an empty map. */
  constructor(options: GenerationMapOptions<K, V>) {
    this.#maxYoung = options.maxSize / 2;
    this.#lifetime = options.lifetime ?? Infinity;
    this.#weigh = options.weigh ?? (() => 1);
    this.#onForget = options.onForget;
  }

  /** The number of entries. A renewed entry counts in both generations. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Starts a new generation if the present one began a lifetime ago. */
  advance(time: number): void {
    if (time < this.#rotatesAt) return;
    if (time >= this.#rotatesAt + this.#lifetime) this.clear();
    else this.rotate();
    this.#rotatesAt = time + this.#lifetime;
  }

  /** Returns a value without counting that as a use. */
  peek(key: K): V | undefined {
    return this.#young.get(key) ?? this.#old.get(key);
  }

  /** Returns a value, and keeps it for another generation. */
  get(key: K): V | undefined {
    let value = this.#young.get(key);
    if (value !== undefined) return value;
    value = this.#old.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  /** Keeps a value. */
  set(key: K, value: V): void {
    const before = this.#young.get(key);
    if (before !== undefined) this.#weight -= this.#weigh(before);
    else if (this.#weight >= this.#maxYoung) this.rotate();
    this.#weight += this.#weigh(value);
    this.#young.set(key, value);
  }

  /** Removes a value. */
  delete(key: K): void {
    const value = this.#young.get(key);
    if (value !== undefined) this.#weight -= this.#weigh(value);
    this.#young.delete(key);
    this.#old.delete(key);
  }

  /** Forgets the older generation, and starts a new one. */
  rotate(): void {
    this.#onForget?.(this.#old);
    this.#old = this.#young;
    this.#young = new Map();
    this.#weight = 0;
  }

  /** Forgets all values. */
  clear(): void {
    this.rotate();
    this.rotate();
  }
}
