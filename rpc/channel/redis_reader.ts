import { pause } from "../../core/runtime/pause.ts";
import { destroy } from "../../core/runtime/redis.ts";
import type { Tracked } from "../procedure/tracked.ts";
import { MessageRing } from "./message_ring.ts";
import {
  after,
  compareIds,
  type Entry,
  news,
  pageSize,
  persist,
  type RedisStream,
  tail,
} from "./redis_stream.ts";

/** How long after a connection was given up the next is opened, in ms. */
const REOPEN_AFTER = 100;

/**
 * Copies the messages of a stream into a ring, over a connection of its own:
 * one that waits for news can do nothing else.
 */
export class RedisReader<T> {
  /** The newest messages. */
  readonly ring: MessageRing<T>;
  readonly #stream: RedisStream;
  readonly #read: (entry: Entry) => Tracked<T> | undefined;
  readonly #onFailure: (error: unknown) => void;
  /** Stops the copying; there is none while nothing is copied. */
  #running: AbortController | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  /** The entry before the ring's oldest message: all after it is there. */
  #floor = "";
  /** The newest entry that was copied. */
  #newest = "";

  /** Creates a reader that isn't started. */
  constructor(
    stream: RedisStream,
    read: (entry: Entry) => Tracked<T> | undefined,
    onFailure: (error: unknown) => void,
  ) {
    this.ring = new MessageRing(stream.history);
    this.#stream = stream;
    this.#read = read;
    this.#onFailure = onFailure;
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
   * The position of the message after the entry `id`. Nothing if the ring
   * doesn't reach back to that, or, unless the entry is known to exist, has
   * never seen it.
   */
  find(id: string, exists: boolean): number | undefined {
    if (compareIds(id, this.#floor) < 0) return undefined;
    let { start: low, end: high } = this.ring;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (compareIds(this.ring.at(middle).id, id) <= 0) low = middle + 1;
      else high = middle;
    }
    if (exists || id === this.#floor) return low;
    const before = low > this.ring.start ? this.ring.at(low - 1).id : undefined;
    return id === before ? low : undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    try {
      while (!signal.aborted) {
        await this.#follow(signal);
        await pause(REOPEN_AFTER, signal);
      }
    } catch (error) {
      if (!signal.aborted) this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#onFailure(error);
    this.stop();
  }

  /** Copies over one connection, until that is silent when it shouldn't be. */
  async #follow(signal: AbortSignal): Promise<void> {
    const client = this.#stream.client.duplicate();
    // What fails is seen below; without a listener it would be thrown.
    client.on("error", () => {});
    const close = () => destroy(client);
    // A server that vanishes without a word leaves a connection that looks as
    // if nothing were published. Redis itself speaks up once in `block` ms.
    let silent = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(timer);
      if (signal.aborted) return false;
      timer = setTimeout(() => {
        silent = true;
        close();
      }, 1.5 * this.#stream.block);
      return true;
    };
    signal.addEventListener("abort", close);
    try {
      heard();
      await client.connect();
      const stream = { ...this.#stream, client };
      await persist(client, signal, () => this.#copy(stream, heard));
    } catch (error) {
      if (!silent) throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", close);
      close();
    }
  }

  /** `heard` is told of every answer, and says whether to go on. */
  async #copy(stream: RedisStream, heard: () => boolean): Promise<void> {
    const page = pageSize(stream);
    for (;;) {
      // It is behind, or it was away: all between must still be there.
      let entries = await after(stream, this.#newest);
      if (!heard()) return;
      if (entries === undefined) {
        const id = await tail(stream);
        if (!heard()) return;
        this.ring.clear();
        this.#goTo(id);
        continue;
      }
      this.#take(entries);
      while (entries.length < page) {
        entries = await news(stream, this.#newest);
        if (!heard()) return;
        if (entries.length < page) this.#take(entries);
      }
    }
  }

  #take(entries: readonly Entry[]): void {
    const { ring } = this;
    for (const entry of entries) {
      let message: Tracked<T> | undefined;
      try {
        message = this.#read(entry);
      } catch (error) {
        return this.#fail(error);
      }
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
