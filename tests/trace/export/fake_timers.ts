import type { OTLPExporterTimers } from "@quartet/kit/trace";

interface Timer {
  readonly at: number;
  readonly delay: number;
  readonly fn: () => void;
}

/** Time that only goes on when a test says so. Chance is always 0. */
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

  /** The delays of all timers that are set. */
  get delays(): number[] {
    return Array.from(this.#timers, ({ delay }) => delay);
  }

  /** Waits until somebody has set a timer with this delay. */
  async timer(delay: number): Promise<void> {
    if (this.delays.includes(delay)) return;
    await new Promise<void>((resolve) => this.#waiting.set(delay, resolve));
  }

  /** Waits for a timer with this delay, then lets that much time pass. */
  async pass(delay: number): Promise<void> {
    await this.timer(delay);
    this.advance(delay);
  }

  /** Lets time pass. */
  advance(time: number): void {
    this.#now += time;
    for (const timer of [...this.#timers]) {
      if (timer.at > this.#now || !this.#timers.delete(timer)) continue;
      timer.fn();
    }
  }
}
