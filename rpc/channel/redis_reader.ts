import { RedisLink, type RedisLinkOptions } from "../../core/redis/link.ts";
import { pause } from "../../core/runtime/pause.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import type { Tracked } from "../procedure/tracked.ts";
import { MessageRing } from "./message_ring.ts";
import { compareIds, type Entry, RedisStream } from "./redis_stream.ts";

/** How long the reader waits before it looks for a connection again, in ms. */
const RETRY_AFTER = 50;

/**
 * Copies the messages of a stream into a ring, over a connection of its own:
 * one that waits for messages can do nothing else.
 */
export class RedisReader<T> {
  /** The newest messages. */
  readonly ring: MessageRing<T>;
  readonly #link: RedisLinkOptions;
  readonly #history: number;
  readonly #read: (entry: Entry) => Tracked<T> | undefined;
  readonly #onFailure: (error: unknown) => void;
  /** Stops the copying; there is none while nothing is copied. */
  #running: AbortController | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  /** The entry before the ring's oldest message: all after it is there. */
  #floor = "";
  /** The newest entry that was copied. */
  #newest = "";

  /**
   * Creates a reader that isn't started.
   *
   * @param link The settings of its connection.
   * @param read Returns the message of an entry.
   * @param onFailure Called when it can't go on.
   */
  constructor(
    link: RedisLinkOptions,
    history: number,
    read: (entry: Entry) => Tracked<T> | undefined,
    onFailure: (error: unknown) => void,
  ) {
    this.ring = new MessageRing(history);
    this.#link = link;
    this.#history = history;
    this.#read = read;
    this.#onFailure = onFailure;
  }

  /** Whether it copies. */
  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  /** Copies what follows the entry `id`, unless it is copying already. */
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
   * Closes the connection and forgets the messages.
   *
   * @returns Resolves when the connection is closed.
   */
  stop(): Promise<unknown> {
    this.#running?.abort();
    this.#running = undefined;
    this.ring.clear();
    return this.#closed;
  }

  /**
   * Returns the position of the message after the entry `id`, or `undefined` if
   * the ring doesn't reach back to that, or doesn't know it.
   *
   * @param exists Whether the stream is known to have the entry. The ring may
   * be behind it then.
   */
  find(id: string, exists: boolean): number | undefined {
    if (id === this.#newest) return this.ring.end;
    if (id === this.#floor) return this.ring.start;
    if (compareIds(id, this.#newest) > 0) {
      return exists ? this.ring.end : undefined;
    }
    let { start: low, end: high } = this.ring;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareIds(this.ring.at(middle).id, id) <= 0) low = middle + 1;
      else high = middle;
    }
    const isThere = low > this.ring.start && this.ring.at(low - 1).id === id;
    return isThere ? low : undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const link = new RedisLink(this.#link);
    // A connection that is being opened ends the first command in time. Some
    // clients can't close it before.
    const close = () => link.isOpen ? link.close() : undefined;
    signal.addEventListener("abort", close);
    try {
      const stream = new RedisStream(link, this.#link.key, this.#history);
      await this.#follow(stream, signal);
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    } finally {
      signal.removeEventListener("abort", close);
      await link.close();
    }
  }

  #fail(error: unknown): void {
    this.#onFailure(error);
    this.stop();
  }

  async #follow(stream: RedisStream, signal: AbortSignal): Promise<void> {
    // Redis answers in half of the time after which it counts as silent.
    const block = Math.max(1, Math.floor(this.#link.timeout / 2));
    let isBehind = true;
    while (!signal.aborted) {
      try {
        const entries: readonly Entry[] | undefined = isBehind
          ? await stream.after(this.#newest)
          : await stream.next(this.#newest, block);
        if (signal.aborted) return;
        if (entries === undefined) {
          const id = await stream.tail();
          if (signal.aborted) return;
          this.ring.clear();
          this.#goTo(id);
        } else {
          this.#take(entries);
          isBehind = entries.length === stream.pageSize;
        }
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
        if (signal.aborted) return;
        await pause(RETRY_AFTER, signal);
        isBehind = true;
      }
    }
  }

  #take(entries: readonly Entry[]): void {
    const { ring } = this;
    for (const entry of entries) {
      const message = this.#read(entry);
      this.#newest = entry.id;
      if (message === undefined) continue;
      if (ring.end - ring.start === ring.capacity) {
        this.#floor = ring.at(ring.start).id;
      }
      ring.push(message);
    }
  }

  #goTo(id: string): void {
    this.#floor = id;
    this.#newest = id;
  }
}
