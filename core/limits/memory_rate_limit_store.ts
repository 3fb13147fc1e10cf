import { GenerationMap } from "../collections/generation_map.ts";
import { keyPart } from "../key_part.ts";
import type {
  RateLimitKey,
  RateLimitResult,
  RateLimitRule,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

/** A window of time and the number of events in it. */
interface Window {
  /** When it ends, in milliseconds. */
  readonly end: number;
  /** The number of events so far. */
  count: number;
}

/** Fixed-window counters in the memory of this process, without waiting. */
export class MemoryRateLimitStore implements RateLimitStore {
  readonly #maxKeys: number;
  readonly #now: () => number;
  /** Windows by the name of their rule, and by key. */
  readonly #windows = new Map<string, GenerationMap<string, Window>>();
  /** When marks end. */
  readonly #marks: GenerationMap<string, number>;
  #time = -Infinity;
  #ahead = 0;

  /**
   * Creates an empty store.
   *
   * @param maxKeys Maximum keys of each rule, and marks. Beyond that, the least
   * recently used are forgotten.
   * @param now The clock, in milliseconds.
   */
  constructor(maxKeys: number, now: () => number) {
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
    const windows = keys.map(({ rule }, i) => {
      const text = texts[i];
      if (text === undefined) return undefined;
      const window = this.#open(rule, text, time);
      window.count++;
      return window;
    });
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
      const window = this.#peek(clear.rule, keyPart(clear.key), time);
      if (window !== undefined) window.count = 0;
    }
    if (mark !== undefined) this.#marks.set(keyPart(mark.name), time + mark.ms);
  }

  /** The same for one key, with half of the look-ups. */
  #takeOne(key: RateLimitKey, time: number): RateLimitResult {
    if (this.#isExempt(key, time)) return { wait: 0, windows: [undefined] };
    const window = this.#open(key.rule, keyPart(key.key), time);
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
  #waitOf({ rule }: RateLimitKey, text: string, time: number): number {
    const window = this.#peek(rule, text, time);
    if (window === undefined || window.count < rule.max) return 0;
    return this.#open(rule, text, time).end - time;
  }

  /** Returns a key's window. Opens one if there is none. */
  #open(rule: RateLimitRule, text: string, time: number): Window {
    const windows = this.#windowsOf(rule);
    windows.advance(time);
    const window = windows.get(text);
    if (window !== undefined && time < window.end) return window;
    const opened = { end: time + rule.windowMs, count: 0 };
    windows.set(text, opened);
    return opened;
  }

  /** Returns a key's window without counting that as a use. */
  #peek(rule: RateLimitRule, text: string, time: number): Window | undefined {
    const window = this.#windowsOf(rule).peek(text);
    return window !== undefined && time < window.end ? window : undefined;
  }

  #isExempt({ unless }: RateLimitKey, time: number): boolean {
    return unless !== undefined &&
      time < (this.#marks.peek(keyPart(unless)) ?? 0);
  }

  #windowsOf(rule: RateLimitRule): GenerationMap<string, Window> {
    let windows = this.#windows.get(rule.name);
    if (windows === undefined) {
      const options = { maxSize: this.#maxKeys, lifetime: rule.windowMs };
      this.#windows.set(rule.name, windows = new GenerationMap(options));
    }
    return windows;
  }

  /** Returns the time. Never moves backwards, even when the clock does. */
  #advance(): number {
    const read = this.#now() + this.#ahead;
    if (read >= this.#time) this.#time = read;
    else this.#ahead += this.#time - read;
    return this.#time;
  }
}
