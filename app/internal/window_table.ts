/** A stretch of time in which something is counted. */
export interface Window {
  /** When it ends. */
  readonly end: number;
  /** How often it has happened so far. */
  count: number;
}

/** How long windows last, and how many are remembered. */
export interface WindowTableOptions {
  /** How long a window lasts from its beginning on, in milliseconds. */
  readonly windowMs: number;
  /** How many names are remembered; the longest unused give way. */
  readonly maxKeys: number;
  /** Where the time is read, in milliseconds. */
  readonly now: () => number;
}

/**
 * Windows of time by name, for limits on how often something may happen.
 *
 * Two generations: what was not called upon for a whole window is dropped with
 * the older one, so no timer and no search is needed to forget.
 */
export class WindowTable {
  readonly #windowMs: number;
  readonly #maxKeys: number;
  readonly #now: () => number;
  #young = new Map<string, Window>();
  #old = new Map<string, Window>();
  #last: number;
  #ahead = 0;
  #turn: number;

  /** Makes an empty table. */
  constructor({ windowMs, maxKeys, now }: WindowTableOptions) {
    this.#windowMs = windowMs;
    this.#maxKeys = maxKeys;
    this.#now = now;
    this.#last = now();
    this.#turn = this.#last + windowMs;
  }

  /** The time. A clock that was put back goes on from where it was. */
  time(): number {
    const read = this.#now() + this.#ahead;
    if (read > this.#last) this.#last = read;
    else if (read < this.#last) this.#ahead += this.#last - read;
    return this.#last;
  }

  /** The window of a name at this time; it begins if there is none. */
  open(name: string, time: number): Window {
    const window = this.find(name, time);
    if (window !== undefined) return window;
    const opened = { end: time + this.#windowMs, count: 0 };
    this.#young.set(name, opened);
    return opened;
  }

  /**
   * The window of a name at this time, if there is one. To look changes nothing,
   * neither what is remembered nor for how long.
   */
  peek(name: string, time: number): Window | undefined {
    const window = this.#young.get(name) ?? this.#old.get(name);
    return window !== undefined && time < window.end ? window : undefined;
  }

  /** The same, and the name counts as used. */
  find(name: string, time: number): Window | undefined {
    if (time >= this.#turn || this.#young.size >= this.#maxKeys / 2) {
      this.#old = time >= this.#turn + this.#windowMs ? new Map() : this.#young;
      this.#young = new Map();
      this.#turn = time + this.#windowMs;
    }
    const window = this.peek(name, time);
    if (window !== undefined) this.#young.set(name, window);
    return window;
  }
}
