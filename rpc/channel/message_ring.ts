import { RPCError } from "../error.ts";
import { ENDS, type Tracked } from "../procedure/tracked.ts";
import {
  currentScope,
  type OnAsked,
  WatchScope,
} from "../../core/request_scope.ts";

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
  #waiting = new Set<RingReader<T>>();

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

  /** Wakes the reader once, with the next message. It may wait again at once. */
  wait(reader: RingReader<T>): void {
    this.#waiting.add(reader);
  }

  /** Stops waiting. */
  forget(reader: RingReader<T>): void {
    this.#waiting.delete(reader);
  }

  #wake(): void {
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting;
    // A new set, so that a reader which waits again isn't woken again.
    this.#waiting = new Set();
    for (const reader of waiting) reader.wake();
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

type Result<T> = IteratorResult<Tracked<T>, undefined>;

/**
 * Reads a ring from a position on, until the signal aborts. It fails if the
 * ring no longer holds the next message.
 */
export class RingReader<T>
  implements AsyncIterableIterator<Tracked<T>, undefined> {
  readonly #ring: MessageRing<T>;
  readonly #signal: AbortSignal;
  readonly #onEnd: (() => void) | undefined;
  /** Pending calls of `next()`, in order. Usually one. */
  readonly #calls: PromiseWithResolvers<Result<T>>[] = [];
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
    const call = Promise.withResolvers<Result<T>>();
    this.#calls.push(call);
    return call.promise;
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

/**
 * The scope that a socket's subscription runs in. It sends the client the position
 * at which the subscription begins. So the client can resume even if the
 * connection breaks before the first message.
 *
 * ```
 * socket ──► SubscriptionScope ──► handler ──► channel.subscribe()
 *   ▲                                                   │
 *   └───── started: the newest message so far ◄─────────┘
 * ```
 */
export class SubscriptionScope extends WatchScope {
  readonly #onStart: (eventId: string) => void;
  #channels = 0;
  #hasStarted = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onStart Called at most once, with the position.
   * @param onAsked Called when its code asks for the user.
   */
  constructor(onStart: (eventId: string) => void, onAsked?: OnAsked) {
    super(onAsked);
    this.#onStart = onStart;
  }

  /** Counts a channel. Returns a function that receives its position. */
  addChannel(): (eventId: string) => void {
    this.#channels++;
    return (eventId) =>
      // If the handler subscribes to several channels, the id of one isn't a
      // position of all.
      queueMicrotask(() => {
        if (this.#hasStarted || this.isOver || this.#channels !== 1) return;
        this.start();
        this.#onStart(eventId);
      });
  }

  /** Marks the position as known. Later ones are ignored. */
  start(): void {
    this.#hasStarted = true;
  }
}

/**
 * Returns a function that receives the position of a channel's subscription, if
 * it can resume from there, because its handler passes `lastEventId` on. Must
 * be called synchronously in the handler.
 */
export function startOf(
  options: object,
): ((eventId: string) => void) | undefined {
  if (!("lastEventId" in options)) return undefined;
  let scope = currentScope();
  while (scope !== undefined && !(scope instanceof SubscriptionScope)) {
    scope = scope.outer;
  }
  return scope?.addChannel();
}
