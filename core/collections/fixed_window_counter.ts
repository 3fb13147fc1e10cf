import { GenerationMap } from "./generation_map.ts";

/** A window of time and the number of events in it. */
export interface Window {
  /** When it ends, in milliseconds. */
  readonly end: number;
  /** The number of events so far. */
  count: number;
}

/** Options of a {@linkcode FixedWindowCounter}. */
export interface FixedWindowOptions {
  /** How long a window lasts from its first event on, in milliseconds. */
  readonly windowMs: number;
  /** Maximum keys. Beyond, the least recently used are forgotten. */
  readonly maxKeys: number;
}

/**
 * Fixed-window counters by key, for rate limits. The caller's times must not move
 * backwards.
 */
export class FixedWindowCounter {
  readonly #windowMs: number;
  readonly #windows: GenerationMap<string, Window>;

  /** Creates counters without windows. */
  constructor({ windowMs, maxKeys }: FixedWindowOptions) {
    this.#windowMs = windowMs;
    this.#windows = new GenerationMap({ maxSize: maxKeys, lifetime: windowMs });
  }

  /** Returns the key's window at a time. Opens one if there is none. */
  open(key: string, time: number): Window {
    const window = this.find(key, time);
    if (window !== undefined) return window;
    const opened = { end: time + this.#windowMs, count: 0 };
    this.#windows.set(key, opened);
    return opened;
  }

  /** Returns the key's window at a time. */
  find(key: string, time: number): Window | undefined {
    this.#windows.advance(time);
    return ifOpen(this.#windows.get(key), time);
  }

  /** Returns the key's window at a time without counting that as a use. */
  peek(key: string, time: number): Window | undefined {
    return ifOpen(this.#windows.peek(key), time);
  }
}

function ifOpen(window: Window | undefined, time: number): Window | undefined {
  return window !== undefined && time < window.end ? window : undefined;
}
