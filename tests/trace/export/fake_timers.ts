import type { OTLPExporterTimers } from "@quartet/kit/trace";

interface Timer {
  readonly at: number;
  readonly delay: number;
  readonly fn: () => void;
}

/** Timers that a test advances. Random values are always 0. */
export class FakeTimers implements OTLPExporterTimers {
  #now = Date.parse("2026-01-01T00:00:00Z");
  readonly #timers = new Set<Timer>();
  readonly #waiting = new Map<number, () => void>();

  now(): number {
    return this.#now;
  }

  after(delay: number, fn: () => void): () => void {
    const timer = { at: this.#now + delay, delay, fn };
    this.#timers.add(timer);
    this.#waiting.get(delay)?.();
    this.#waiting.delete(delay);
    return () => this.#timers.delete(timer);
  }

  random(): number {
    return 0;
  }

  /** Delays of all pending timers. */
  get delays(): number[] {
    return Array.from(this.#timers, ({ delay }) => delay);
  }

  /** Waits until a timer with this delay is set. */
  async timer(delay: number): Promise<void> {
    if (this.delays.includes(delay)) return;
    await new Promise<void>((resolve) => this.#waiting.set(delay, resolve));
  }

  /** Waits for a timer with this delay, then advances the time by it. */
  async pass(delay: number): Promise<void> {
    await this.timer(delay);
    this.advance(delay);
  }

  /** Advances the time. */
  advance(time: number): void {
    this.#now += time;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.fn();
    }
  }
}
