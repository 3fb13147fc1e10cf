import { FixedWindowCounter } from "../collections/fixed_window_counter.ts";
import type { Window } from "../collections/fixed_window_counter.ts";
import { GenerationMap } from "../collections/generation_map.ts";
import { keyPart } from "../key_part.ts";
import type {
  RateLimitKey,
  RateLimitResult,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

/** Options of a {@linkcode MemoryRateLimitStore}. */
export interface MemoryRateLimitOptions {
  /**
   * Maximum keys of each rule, and marks. Beyond that, the least recently used are
   * forgotten.
   */
  readonly maxKeys: number;
  /** The clock, in milliseconds. */
  readonly now: () => number;
}

/** Counts in the memory of this process, without waiting. */
export class MemoryRateLimitStore implements RateLimitStore {
  readonly #maxKeys: number;
  readonly #now: () => number;
  /** Counters by the name of their rule. */
  readonly #counters = new Map<string, FixedWindowCounter>();
  /** When marks end. */
  readonly #marks: GenerationMap<string, number>;
  #time = -Infinity;
  #ahead = 0;

  /** Creates an empty store. */
  constructor({ maxKeys, now }: MemoryRateLimitOptions) {
    this.#maxKeys = maxKeys;
    this.#now = now;
    this.#marks = new GenerationMap({ maxSize: maxKeys });
  }

  take(keys: readonly RateLimitKey[]): RateLimitResult {
    const time = this.#advance();
    if (keys.length === 1) return this.#takeOne(keys[0]!, time);
    let wait = 0;
    const texts: (string | undefined)[] = [];
    for (const key of keys) {
      const text = this.#isExempt(key, time) ? undefined : keyPart(key.key);
      texts.push(text);
      if (text !== undefined) {
        wait = Math.max(wait, this.#waitOf(key, text, time));
      }
    }
    if (wait > 0) return { wait, windows: [] };
    const windows: (Window | undefined)[] = [];
    for (let i = 0; i < keys.length; i++) {
      const text = texts[i];
      const window = text === undefined
        ? undefined
        : this.#counterOf(keys[i]!).open(text, time);
      if (window !== undefined) window.count++;
      windows.push(window);
    }
    return { wait, windows };
  }

  /** Returns the milliseconds until a key isn't at its maximum. Counts nothing. */
  wait(key: RateLimitKey): number {
    const time = this.#advance();
    return this.#isExempt(key, time)
      ? 0
      : this.#waitOf(key, keyPart(key.key), time);
  }

  settle({ windows, clear, mark }: RateLimitSettlement): void {
    const time = this.#advance();
    // Later windows of the same keys are other objects.
    for (const window of windows as readonly (Window | undefined)[]) {
      if (window !== undefined && window.count > 0) window.count--;
    }
    if (clear !== undefined) {
      const window = this.#counterOf(clear).find(keyPart(clear.key), time);
      if (window !== undefined) window.count = 0;
    }
    if (mark !== undefined) {
      this.#marks.set(keyPart(mark.name), time + mark.ms);
    }
  }

  /** The same for one key, with half of the look-ups. */
  #takeOne(key: RateLimitKey, time: number): RateLimitResult {
    if (this.#isExempt(key, time)) return { wait: 0, windows: [undefined] };
    const window = this.#counterOf(key).open(keyPart(key.key), time);
    if (window.count >= key.rule.max) {
      return { wait: window.end - time, windows: [] };
    }
    window.count++;
    return { wait: 0, windows: [window] };
  }

  /**
   * Returns the milliseconds until a key isn't at its maximum.
   *
   * Refused events leave nothing in memory, so they can't displace other keys.
   * Keys at their maximum stay in memory.
   */
  #waitOf(key: RateLimitKey, text: string, time: number): number {
    const counter = this.#counterOf(key);
    const window = counter.peek(text, time);
    if (window === undefined || window.count < key.rule.max) return 0;
    return counter.open(text, time).end - time;
  }

  #isExempt({ unless }: RateLimitKey, time: number): boolean {
    return unless !== undefined &&
      time < (this.#marks.peek(keyPart(unless)) ?? 0);
  }

  #counterOf({ rule }: RateLimitKey): FixedWindowCounter {
    let counter = this.#counters.get(rule.name);
    if (counter === undefined) {
      const { windowMs } = rule;
      counter = new FixedWindowCounter({ windowMs, maxKeys: this.#maxKeys });
      this.#counters.set(rule.name, counter);
    }
    return counter;
  }

  /** Returns the time. Never moves backwards, even when the clock does. */
  #advance(): number {
    const read = this.#now() + this.#ahead;
    if (read >= this.#time) this.#time = read;
    else this.#ahead += this.#time - read;
    return this.#time;
  }
}
