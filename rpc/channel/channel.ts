/**
 * Channels: what one part of a server publishes, the subscriptions of others
 * receive.
 *
 * @module
 */

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import {
  aFunction,
  aPositiveInteger,
  aString,
} from "../../core/check/rules.ts";
import { toHex } from "../../core/bytes/hex.ts";
import { Tracked } from "../procedure/tracked.ts";
import { DEFAULT_HISTORY, LOST, MessageRing } from "./message_ring.ts";
import { RingReader } from "./ring_reader.ts";
import { startOf } from "./starting_position.ts";

/** Where a subscriber of a channel begins. */
export interface ChannelSubscribeOptions {
  /**
   * The id of the last message seen: those after it come first. Default: the
   * next message that is published.
   *
   * A handler passes the client's on, also if that is `undefined`. Then the
   * server sends the position at which the subscription begins, and the client
   * can resume before it has seen a message.
   */
  readonly lastEventId?: string | undefined;
}

/**
 * Hands each message to everybody who is subscribed. Made by
 * `createChannel()`, or by `createRedisChannel()` of
 * `@quartet/kit/rpc/redis` for several machines.
 */
export interface Channel<T> {
  /**
   * Publishes a message.
   *
   * @returns The id of the message.
   */
  publish(value: T): Promise<string>;

  /**
   * Subscribes from this call on; a handler returns the iterator or yields
   * from it. It gives the messages in the order of their publication, each
   * under its id, and ends when the signal aborts.
   *
   * A subscriber that comes back with a `lastEventId`, or reads slowly, is owed
   * what came in between. If the history no longer reaches back that far, or
   * `lastEventId` isn't of this channel, it gets nothing of that: `next()`
   * rejects with an `RPCError` with the code `SUBSCRIPTION_ERROR` and the
   * details `{ reason: "MESSAGES_LOST" }`. The client then subscribes without
   * an id, and calls `onGap()`.
   *
   * @param signal Ends the subscription, also while it waits.
   * @param options Where to begin.
   */
  subscribe(
    signal: AbortSignal,
    options?: ChannelSubscribeOptions,
  ): AsyncIterableIterator<Tracked<T>>;

  /** How many subscriptions have not ended. */
  readonly subscribers: number;
}

/** The names of {@linkcode ChannelSubscribeOptions}. */
export const SUBSCRIBE: OptionRules<ChannelSubscribeOptions> = {
  lastEventId: aString,
};

/** Settings of a channel. */
export interface ChannelOptions {
  /**
   * How many messages are kept, for subscribers that come back and for those
   * that read slowly. Default 1,024.
   */
  readonly history?: number;
  /** Where randomness comes from. Default: `crypto.getRandomValues`. */
  readonly random?: (bytes: Uint8Array<ArrayBuffer>) => void;
}

const OPTIONS: OptionRules<ChannelOptions> = {
  history: aPositiveInteger,
  random: aFunction,
};

/**
 * Creates a channel within this process. Subscribers share one history, so that
 * a slow one costs no memory and holds up nobody; they also share the values,
 * which must not be changed after they were published.
 *
 * Ids of another process, such as this one before it was restarted, are
 * recognised: subscribing with one fails as if the history were too short.
 *
 * @param options How long the history is.
 * @throws {TypeError} If `history` is not a positive integer, or an option is
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
 * // What a client that comes back does by itself.
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
      checkOptions(options, SUBSCRIBE, "subscribe to channel");
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

  /** Ids come from clients, so only the exact spelling of one that was given. */
  function positionAfter(id: string): number {
    if (id === beginning) return 0;
    const position = Number(id.slice(prefix.length));
    const exists = Number.isInteger(position) && position >= 0 &&
      position < ring.end && id === prefix + position;
    return exists ? position + 1 : LOST;
  }
}
