import type { Tracked } from "../procedure/tracked.ts";
import { ENDS } from "../signal_events.ts";
import { type MessageRing, messagesLost, type Waiter } from "./message_ring.ts";

type Result<T> = IteratorResult<Tracked<T>, undefined>;

/** A pending call of `next()`. */
interface Call<T> {
  resolve(result: Result<T>): void;
  reject(error: unknown): void;
}

/**
 * Reads a ring from a position on, until the signal aborts. It fails if the
 * ring no longer holds the next message.
 */
export class RingReader<T>
  implements AsyncIterableIterator<Tracked<T>, undefined>, Waiter {
  readonly #ring: MessageRing<T>;
  readonly #signal: AbortSignal;
  readonly #onEnd: (() => void) | undefined;
  /** Pending calls in order. Usually one. */
  readonly #calls: Call<T>[] = [];
  #position: number;
  #ended = false;

  /** Starts to read. `onEnd` is called once, at the end. */
  constructor(
    ring: MessageRing<T>,
    position: number,
    signal: AbortSignal,
    onEnd?: () => void,
  ) {
    this.#ring = ring;
    this.#position = position;
    this.#signal = signal;
    this.#onEnd = onEnd;
    if (signal.aborted) this.#end();
    else for (const type of ENDS) signal.addEventListener(type, this.#end);
  }

  /** Resolves with the next message. */
  next(): Promise<Result<T>> {
    if (this.#ended) return Promise.resolve(DONE);
    if (this.#calls.length === 0) {
      try {
        const result = this.#take();
        if (result !== undefined) return Promise.resolve(result);
      } catch (error) {
        this.#end();
        return Promise.reject(error);
      }
    }
    this.#ring.wait(this);
    return new Promise((resolve, reject) => {
      this.#calls.push({ resolve, reject });
    });
  }

  /** Ends it at once, even while `next()` waits. */
  return(): Promise<Result<T>> {
    this.#end();
    return Promise.resolve(DONE);
  }

  /** Returns the reader itself. */
  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Resolves pending calls while there are messages. */
  wake(): void {
    while (this.#calls.length > 0) {
      try {
        const result = this.#take();
        if (result === undefined) return this.#ring.wait(this);
        this.#calls.shift()!.resolve(result);
      } catch (error) {
        this.#calls.shift()!.reject(error);
        this.#end();
      }
    }
  }

  /** Returns the next message, or `undefined` if it hasn't been published. */
  #take(): Result<T> | undefined {
    const { start, end, capacity } = this.#ring;
    if (this.#position >= end) return undefined;
    if (this.#position < start) throw messagesLost(capacity);
    return { done: false, value: this.#ring.at(this.#position++) };
  }

  readonly #end = (): void => {
    if (this.#ended) return;
    this.#ended = true;
    for (const type of ENDS) this.#signal.removeEventListener(type, this.#end);
    this.#ring.forget(this);
    for (const { resolve } of this.#calls.splice(0)) resolve(DONE);
    this.#onEnd?.();
  };
}

const DONE: IteratorReturnResult<undefined> = Object.freeze({
  done: true,
  value: undefined,
});
