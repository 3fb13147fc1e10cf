/**
 * Channels: messages from any part of a server to its subscriptions.
 *
 * @module
 */

import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import {
  aFunction,
  anAbortSignal,
  aPositiveInteger,
  aString,
} from "../../core/check/rules.ts";
import { toHex } from "../../core/bytes/bytes.ts";
import { Tracked } from "../procedure/tracked.ts";
import {
  DEFAULT_HISTORY,
  LOST,
  MessageRing,
  RingReader,
  startOf,
} from "./message_ring.ts";

/** Options of a channel's subscription. */
export interface ChannelSubscribeOptions {
  /**
   * The id of the last message received. The subscription continues after it.
   * Default: begins with the next message.
   *
   * In a handler, pass the client's `lastEventId` on, even if it is
   * `undefined`. Then the server sends the position at which the subscription
   * begins, and the client can resume before its first message.
   */
  readonly lastEventId?: string | undefined;
}

/**
 * Delivers each message to all subscribers. Create one with `createChannel()`,
 * or with `createRedisChannel()` of `@quartet/kit/rpc/redis` for several
 * processes.
 */
export interface Channel<T> {
  /**
   * Publishes a message.
   *
   * @returns The id of the message.
   */
  publish(value: T): Promise<string>;

  /**
   * Subscribes, beginning with this call. A handler returns the iterator or
   * yields from it. It yields the messages in order, each with its id, and ends
   * when the signal aborts.
   *
   * A subscriber with a `lastEventId`, or a slow one, gets all messages in
   * between. If the history no longer reaches back that far, or the id isn't
   * from this channel, `next()` rejects with an `RPCError`: code
   * `SUBSCRIPTION_ERROR`, details `{ reason: "MESSAGES_LOST" }`. The client
   * then subscribes without an id, and calls `onGap()`.
   *
   * @param signal Ends the subscription, also while it waits. The signal of a
   * call ends it when the call is done, too.
   * @param options The position to begin after.
   * @throws {TypeError} If `signal` isn't an `AbortSignal`, or an option is wrong
   * or unknown.
   */
  subscribe(
    signal: AbortSignal,
    options?: ChannelSubscribeOptions,
  ): AsyncIterableIterator<Tracked<T>>;

  /** The number of open subscriptions. */
  readonly subscribers: number;
}

const SUBSCRIBE: OptionRules<ChannelSubscribeOptions> = {
  lastEventId: aString,
};

/**
 * Checks the arguments of `subscribe()`.
 *
 * @throws {TypeError} If one is wrong.
 */
export function checkSubscribe(
  signal: AbortSignal,
  options: ChannelSubscribeOptions,
): void {
  const operation = "subscribe to channel";
  checkValue(signal, "signal", anAbortSignal, operation);
  checkOptions(options, SUBSCRIBE, operation);
}

/** Settings of a channel. */
export interface ChannelOptions {
  /**
   * The number of messages kept, for returning and slow subscribers. Default
   * 1,024.
   */
  readonly history?: number;
  /** The source of randomness. Default: `crypto.getRandomValues`. */
  readonly random?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

const OPTIONS: OptionRules<ChannelOptions> = {
  history: aPositiveInteger,
  random: aFunction,
};

/**
 * Creates a channel within this process. Subscribers share one history, so a
 * slow one costs no memory and delays nobody. They also share the values: don't
 * change a value after publishing it.
 *
 * Ids from another process, or from before a restart, are detected. Subscribing
 * with one fails as if the history were too short.
 *
 * @param options The length of the history.
 * @throws {TypeError} If `history` isn't a positive integer, or an option is
 * unknown.
 *
 * @example
 * ```ts
 * import { createCaller, createChannel, createRouter, procedure } from "@quartet/kit/rpc";
 *
 * const news = createChannel<string>();
 * const api = createRouter({
 *   news: procedure.subscription(({ signal, lastEventId }) =>
 *     news.subscribe(signal, { lastEventId })
 *   ),
 * });
 *
 * const lastEventId = await news.publish("seen before");
 * await news.publish("hello");
 *
 * // A reconnecting client does this by itself.
 * const caller = createCaller(api);
 * for await (const text of caller.news.subscribe(undefined, { lastEventId })) {
 *   console.assert(text === "hello");
 *   break;
 * }
 * console.assert(news.subscribers === 0);
 * ```
 */
export function createChannel<T>(options: ChannelOptions = {}): Channel<T> {
  checkOptions(options, OPTIONS, "create channel");
  const { history = DEFAULT_HISTORY } = options;
  const { random = (bytes) => crypto.getRandomValues(bytes) } = options;
  const ring = new MessageRing<T>(history);
  const epoch = new Uint8Array(8);
  random(epoch);
  // Ids of an earlier process begin differently.
  const prefix = `${toHex(epoch)}-`;
  // The position before the first message.
  const beginning = `${prefix}start`;
  let subscribers = 0;

  return {
    publish(value) {
      const id = prefix + ring.end;
      ring.push(new Tracked(id, value));
      return Promise.resolve(id);
    },
    subscribe(signal, options = {}) {
      checkSubscribe(signal, options);
      const { lastEventId } = options;
      const start = startOf(options);
      const position = lastEventId === undefined
        ? ring.end
        : positionAfter(lastEventId);
      if (lastEventId === undefined) start?.(idBefore(position));
      subscribers++;
      return new RingReader(ring, position, signal, () => subscribers--);
    },
    get subscribers() {
      return subscribers;
    },
  };

  function idBefore(position: number): string {
    return position === 0 ? beginning : prefix + (position - 1);
  }

  /**
   * Ids come from clients, so only the exact spelling of an assigned id is
   * accepted.
   */
  function positionAfter(id: string): number {
    if (id === beginning) return 0;
    const position = Number(id.slice(prefix.length));
    const exists = Number.isInteger(position) && position >= 0 &&
      position < ring.end && id === prefix + position;
    return exists ? position + 1 : LOST;
  }
}
