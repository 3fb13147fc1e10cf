import { GenerationMap } from "../collections/generation_map.ts";
import { keyPart } from "../key_part.ts";
import type {
  RateLimitKey,
  RateLimitResult,
  RateLimitSettlement,
} from "./rate_limit_store.ts";

/** A window of time and the number of events in it. */
interface Window {
  /** When it ends, in milliseconds. */
  readonly end: number;
  /** The number of events so far. */
  count: number;
}

/**
 * Creates fixed-window counters in the memory of this process, which never wait.
 *
 * @param maxKeys Maximum keys of each rule, and marks. Beyond that, the least
 * recently used are forgotten.
 * @param now The clock, in milliseconds.
 */
export function createMemoryRateLimitStore(
  maxKeys: number,
  now: () => number,
) {
  /** Windows by the name of their rule, and by key. */
  const tables = new Map<string, GenerationMap<string, Window>>();
  /** When marks end. */
  const marks = new GenerationMap<string, number>({ maxSize: maxKeys });
  /** The time of the last call. */
  let time = -Infinity;
  let ahead = 0;

  function take(keys: readonly RateLimitKey[]): RateLimitResult {
    advance();
    let wait = 0;
    const windows = keys.map((key) => {
      if (isExempt(key)) return undefined;
      const window = find(key) ?? { end: time + key.rule.windowMs, count: 0 };
      wait = Math.max(wait, waitOf(key, window));
      return window;
    });
    if (wait > 0) return { wait, windows: [] };
    windows.forEach((window, i) => {
      if (window === undefined) return;
      window.count++;
      keep(keys[i]!, window);
    });
    return { wait, windows };
  }

  /** Returns the milliseconds until a key isn't at its maximum. Counts nothing. */
  function wait(key: RateLimitKey): number {
    advance();
    const window = isExempt(key) ? undefined : find(key);
    return window === undefined ? 0 : waitOf(key, window);
  }

  function settle({ windows, clear, mark }: RateLimitSettlement): void {
    advance();
    // Later windows of the same keys are other objects.
    for (const window of windows as readonly (Window | undefined)[]) {
      if (window !== undefined && window.count > 0) window.count--;
    }
    const cleared = clear && find(clear);
    if (cleared !== undefined) cleared.count = 0;
    if (mark !== undefined) marks.set(keyPart(mark.name), time + mark.ms);
  }

  /** Returns the window of a key, if it has one. Doesn't count as a use. */
  function find({ rule, key }: RateLimitKey): Window | undefined {
    const window = tableOf(rule).peek(keyPart(key));
    return window !== undefined && time < window.end ? window : undefined;
  }

  function keep({ rule, key }: RateLimitKey, window: Window): void {
    const table = tableOf(rule);
    const text = keyPart(key);
    if (table.get(text) !== window) table.set(text, window);
  }

  /**
   * Returns the milliseconds until a key isn't at its maximum.
   *
   * Refused events add nothing, so they can't displace other keys. Keys at their
   * maximum stay in memory.
   */
  function waitOf(key: RateLimitKey, window: Window): number {
    if (window.count < key.rule.max) return 0;
    keep(key, window);
    return window.end - time;
  }

  function isExempt({ unless }: RateLimitKey): boolean {
    return unless !== undefined && time < (marks.peek(keyPart(unless)) ?? 0);
  }

  function tableOf(
    { name, windowMs }: RateLimitKey["rule"],
  ): GenerationMap<string, Window> {
    let table = tables.get(name);
    if (table === undefined) {
      table = new GenerationMap({ maxSize: maxKeys, lifetime: windowMs });
      tables.set(name, table);
    }
    table.advance(time);
    return table;
  }

  /** Sets the time. It never moves backwards, even when the clock does. */
  function advance(): void {
    const read = now() + ahead;
    if (read >= time) time = read;
    else ahead += time - read;
  }

  return { take, wait, settle };
}
