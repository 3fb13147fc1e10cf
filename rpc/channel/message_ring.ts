import { RPCError } from "../error.ts";
import type { Tracked } from "../procedure/tracked.ts";

/** A reader that waits for the next message. */
export interface Waiter {
  /** Called once when there is a message. It may wait again at once. */
  wake(): void;
}

/** A position before all messages: its next message is lost. */
export const LOST = -1;

/**
 * The newest messages of a channel. Each has a position, which counts up. Its
 * index in the array is the position modulo the capacity, so the newest message
 * replaces the oldest.
 *
 * ```
 *   lost │ 7 │ 8 │ 9 │ 10 │ not published yet
 *          ↑ start          ↑ end
 * ```
 *
 * A reader is a position between the two. It has no queue, so a slow reader
 * costs no memory. If `start` overtakes it, it has lost messages.
 */
export class MessageRing<T> {
  /** The capacity, in messages. */
  readonly capacity: number;
  readonly #messages: (Tracked<T> | undefined)[] = [];
  #start = 0;
  #end = 0;
  #waiting = new Set<Waiter>();

  /** Creates an empty ring. */
  constructor(capacity: number) {
    this.capacity = capacity;
  }

  /** The position of the oldest message. */
  get start(): number {
    return this.#start;
  }

  /** The position of the next message. */
  get end(): number {
    return this.#end;
  }

  /** Returns the message at a position from `start` to before `end`. */
  at(position: number): Tracked<T> {
    return this.#messages[position % this.capacity]!;
  }

  /** Adds a message and wakes the waiting readers. */
  push(message: Tracked<T>): void {
    this.#messages[this.#end % this.capacity] = message;
    this.#end++;
    if (this.#end - this.#start > this.capacity) this.#start++;
    this.#wake();
  }

  /**
   * Forgets all messages, and skips one position. So every present reader
   * notices the loss.
   */
  clear(): void {
    this.#messages.fill(undefined);
    this.#end++;
    this.#start = this.#end;
    this.#wake();
  }

  /** Wakes the reader with the next message. */
  wait(waiter: Waiter): void {
    this.#waiting.add(waiter);
  }

  /** Stops waiting. */
  forget(waiter: Waiter): void {
    this.#waiting.delete(waiter);
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting;
    // A new set, so that a waiter which waits again isn't woken again.
    this.#waiting = new Set();
    for (const waiter of waiting) waiter.wake();
  }
}

/** Returns the error for a reader that has lost messages. */
export function messagesLost(history: number): RPCError {
  return new RPCError(
    "SUBSCRIPTION_ERROR",
    `Messages are lost: the channel's history of ${history} no longer reaches back to the subscription's position, or the server was restarted`,
    400,
    { details: { reason: "MESSAGES_LOST" } },
  );
}

/** The default history of channels, in messages. */
export const DEFAULT_HISTORY = 1024;
