import { pause } from "../../core/runtime/pause.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import type { Tracked } from "../procedure/tracked.ts";
import type { Entry, LogFollower, MessageLog, Page } from "./message_log.ts";
import { MessageRing } from "./message_ring.ts";

/** Time between two checks for a connection, in milliseconds. */
const RETRY_AFTER = 50;

/** Copies the messages of a log into a ring. */
export class LogReader<T> {
  /** The newest messages. */
  readonly ring: MessageRing<T>;
  readonly #log: MessageLog;
  readonly #read: (entry: Entry) => Tracked<T> | undefined;
  readonly #onFailure: (error: unknown) => void;
  /** Stops the copying. `undefined` while nothing is copied. */
  #running: AbortController | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  /** The entry before the ring's oldest message. */
  #floor = "";
  /** The newest entry that was copied. */
  #newest = "";

  /**
   * Creates a reader that isn't started.
   *
   * @param history The capacity of the ring.
   * @param read Returns the message of an entry.
   * @param onFailure Called when reading fails for good.
   */
  constructor(
    log: MessageLog,
    history: number,
    read: (entry: Entry) => Tracked<T> | undefined,
    onFailure: (error: unknown) => void,
  ) {
    this.ring = new MessageRing(history);
    this.#log = log;
    this.#read = read;
    this.#onFailure = onFailure;
  }

  /** Whether it is copying. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Copies the messages after the entry `id`, unless it is copying already. */
  start(id: string): void {
    if (this.#running !== undefined) return;
    this.#running = new AbortController();
    this.#goTo(id);
    this.#closed = Promise.all([
      this.#closed,
      this.#run(this.#running.signal),
    ]);
  }

  /**
   * Stops copying and forgets the messages.
   *
   * @returns Resolves when its connection is closed.
   */
  stop(): Promise<unknown> {
    this.#running?.abort();
    this.#running = undefined;
    this.ring.clear();
    return this.#closed;
  }

  /**
   * Returns the position of the message after the entry `id`, or `undefined` if
   * the ring doesn't have that entry.
   *
   * @param exists Whether the log is known to have the entry. The ring may be
   * behind it then.
   */
  find(id: string, exists: boolean): number | undefined {
    const log = this.#log;
    if (id === this.#newest) return this.ring.end;
    if (id === this.#floor) return this.ring.start;
    if (log.compareIds(id, this.#newest) > 0) {
      return exists ? this.ring.end : undefined;
    }
    let { start: low, end: high } = this.ring;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (log.compareIds(this.ring.at(middle).id, id) <= 0) low = middle + 1;
      else high = middle;
    }
    const isThere = low > this.ring.start && this.ring.at(low - 1).id === id;
    return isThere ? low : undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const follower = this.#log.follow(signal);
    try {
      await this.#follow(follower, signal);
    } catch (error) {
      if (signal.aborted) return;
      this.#onFailure(error);
      this.stop();
    } finally {
      await follower.close();
    }
  }

  async #follow(follower: LogFollower, signal: AbortSignal): Promise<void> {
    let isBehind = true;
    while (!signal.aborted) {
      try {
        const entries: Page = isBehind
          ? await follower.after(this.#newest)
          : await follower.next(this.#newest);
        if (signal.aborted) return;
        if (entries === undefined) {
          // Entries after it may be gone as well.
          const id = await follower.tail();
          if (signal.aborted) return;
          this.ring.clear();
          this.#goTo(id);
        } else {
          for (const entry of entries) this.#take(entry);
          isBehind = entries.length === this.#log.pageSize;
        }
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        await pause(RETRY_AFTER, signal);
        isBehind = true;
      }
    }
  }

  #take(entry: Entry): void {
    const { ring } = this;
    const message = this.#read(entry);
    this.#newest = entry.id;
    if (message === undefined) return;
    if (ring.end - ring.start === ring.capacity) {
      this.#floor = ring.at(ring.start).id;
    }
    ring.push(message);
  }

  #goTo(id: string): void {
    this.#floor = id;
    this.#newest = id;
  }
}
