import { pause } from "../../core/runtime/pause.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import type { Tracked } from "../procedure/tracked.ts";
import { MessageRing } from "./message_ring.ts";
import { type Entry, type PostgresLog, seqOf } from "./postgres_log.ts";

/** The pause before a failed query is repeated, in milliseconds. */
const RETRY_PAUSE = 200;

/** Settings of a {@linkcode PostgresReader}. */
export interface PostgresReaderOptions<T> {
  /** The messages. */
  readonly log: PostgresLog;
  /** How many messages the ring holds. */
  readonly history: number;
  /** Reads a message. */
  readonly read: (entry: Entry) => Tracked<T> | undefined;
  /** Called with what ends all subscriptions. */
  readonly onFailure: (error: unknown) => void;
}

/** Copies the messages of a log into a ring. */
export class PostgresReader<T> {
  /** The newest messages. */
  readonly ring: MessageRing<T>;
  readonly #options: PostgresReaderOptions<T>;
  /** Stops the copying; there is none while nothing is copied. */
  #running: AbortController | undefined;
  #isReading = false;
  #isBehind = false;
  /** The row before the ring's oldest message: all after it is there. */
  #floor = "";
  /** The newest row that was copied. */
  #newest = "";

  /** Creates a reader that isn't started. */
  constructor(options: PostgresReaderOptions<T>) {
    this.ring = new MessageRing(options.history);
    this.#options = options;
  }

  /** Copies the rows after `id`, unless it is copying already. */
  start(id: string): void {
    if (this.#running !== undefined) return;
    this.#running = new AbortController();
    this.#goTo(id);
    this.wake();
  }

  /** Stops copying and forgets the messages. */
  stop(): void {
    this.#running?.abort();
    this.#running = undefined;
    this.ring.clear();
  }

  /** Copies what is new. */
  wake(): void {
    if (this.#running === undefined) return;
    this.#isBehind = true;
    if (!this.#isReading) this.#read();
  }

  /**
   * The position of the message after the row `id`. Nothing if the ring doesn't
   * reach back to that, or, unless the row is known to exist, has never seen it.
   */
  find(id: string, exists: boolean): number | undefined {
    const seq = seqOf(id);
    if (seq < seqOf(this.#floor)) return undefined;
    let { start: low, end: high } = this.ring;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (seqOf(this.ring.at(middle).id) <= seq) low = middle + 1;
      else high = middle;
    }
    if (exists || id === this.#floor) return low;
    const before = low > this.ring.start ? this.ring.at(low - 1).id : undefined;
    return id === before ? low : undefined;
  }

  async #read(): Promise<void> {
    this.#isReading = true;
    while (this.#isBehind && this.#running !== undefined) {
      this.#isBehind = false;
      const { signal } = this.#running;
      try {
        await this.#copy(signal);
      } catch (error) {
        if (signal.aborted) {
          this.#isBehind = true;
        } else if (error instanceof UnavailableError) {
          this.#isBehind = true;
          await pause(RETRY_PAUSE, signal);
        } else this.#fail(error);
      }
    }
    this.#isReading = false;
  }

  async #copy(signal: AbortSignal): Promise<void> {
    const { log } = this.#options;
    for (;;) {
      const entries = await log.after(this.#newest);
      if (signal.aborted) return;
      if (entries === undefined) {
        // Rows after it may be gone as well.
        const id = await log.tail();
        if (signal.aborted) return;
        this.ring.clear();
        this.#goTo(id);
        continue;
      }
      for (const entry of entries) this.#take(entry);
      if (entries.length < log.pageSize) return;
    }
  }

  #take(entry: Entry): void {
    const { ring } = this;
    const message = this.#options.read(entry);
    this.#newest = entry.id;
    if (message === undefined) return;
    if (ring.end - ring.start === ring.capacity) {
      this.#floor = ring.at(ring.start).id;
    }
    ring.push(message);
  }

  #fail(error: unknown): void {
    this.#options.onFailure(error);
    this.stop();
  }

  #goTo(id: string): void {
    this.#floor = id;
    this.#newest = id;
  }
}
