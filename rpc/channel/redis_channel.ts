/**
 * A channel that several machines share, over a Redis stream. Needs Redis 5 or
 * later, and a client of `npm:redis` or `npm:ioredis`.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aNonEmptyString,
  aPositiveInteger,
  required,
} from "../../core/check/rules.ts";
import type { RedisClient } from "../../core/redis/client.ts";
import { REDIS_OPTIONS, type RedisOptions } from "../../core/redis/options.ts";
import { toDelay } from "../../core/promises.ts";
import type { Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { aTransformer } from "../server/endpoints.ts";
import type { Channel, ChannelSubscribeOptions } from "./channel.ts";
import { createLogChannel } from "./log_channel.ts";
import { DEFAULT_HISTORY } from "./message_ring.ts";
import { createRedisLog } from "./redis_stream.ts";

export type { Channel, ChannelSubscribeOptions, RedisClient };
export type { Tracked, Transformer };

/** Settings of a channel in Redis. */
export interface RedisChannelOptions extends RedisOptions {
  /** The key of the stream. Channels of the same name are one channel. */
  readonly name: string;
  /**
   * The number of messages that Redis keeps at least, and each process at most,
   * for returning and slow subscribers. Use the same in all processes. Default
   * 1,024.
   */
  readonly history?: number;
  /** Turns values into text and back. Default: `JSON`. */
  readonly transformer?: Transformer;
}

const OPTIONS: OptionRules<RedisChannelOptions> = {
  ...REDIS_OPTIONS,
  name: required(aNonEmptyString),
  history: aPositiveInteger,
  transformer: aTransformer,
};

/** A channel in Redis. */
export interface RedisChannel<T> extends Channel<T>, AsyncDisposable {
  /**
   * Resolves if Redis answers, for a health check of your own.
   *
   * @throws {UnavailableError} If Redis can't be reached.
   */
  ping(): Promise<void>;
  /** Ends all subscriptions of this process and closes their connection. */
  close(): Promise<void>;
}

/**
 * Creates a channel in Redis. All subscriptions of this process share one
 * connection, which is open while there are any. Another connection publishes.
 *
 * `publish()` takes one round trip, at most `timeout`. If Redis can't be
 * reached, it rejects with an `UnavailableError`. If Redis was too slow, or the
 * connection broke, the message may still have been published. It rejects with
 * a `TypeError` if the value can't be encoded.
 *
 * While Redis is away, subscriptions wait. Then they continue after the last
 * message they yielded, without a gap or a repetition, also on another master.
 * If Redis no longer has their next message, they end as {@linkcode Channel}
 * describes. A connection that was lost silently is replaced within two
 * timeouts.
 *
 * Redis replicates asynchronously, so a new master may lack messages that the
 * old one acknowledged. Subscribers that received one of them get
 * `MESSAGES_LOST`.
 *
 * @param options The client, the name and the length of the history.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createRedisChannel } from "@quartet/kit/rpc/redis";
 * import { procedure } from "@quartet/kit/rpc";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * await using news = createRedisChannel<string>({ client, name: "news" });
 *
 * const subscribe = procedure.subscription(({ signal, lastEventId }) =>
 *   news.subscribe(signal, { lastEventId })
 * );
 * console.assert(subscribe.kind === "subscription");
 * console.assert(news.subscribers === 0);
 * ```
 */
export function createRedisChannel<T>(
  options: RedisChannelOptions,
): RedisChannel<T> {
  checkOptions(options, OPTIONS, "create channel");
  const { client, name, history = DEFAULT_HISTORY, timeout = 1 } = options;
  const log = createRedisLog({
    client,
    what: `channel ${name}`,
    key: name,
    timeout: toDelay(timeout),
    onError: options.onError,
  }, history);
  return createLogChannel(log, history, options.transformer);
}
