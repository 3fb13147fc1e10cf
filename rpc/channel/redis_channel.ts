/**
 * A channel that several machines share, over a Redis stream. Needs Redis 5 or
 * later, and a client of `npm:redis` or `npm:ioredis`.
 *
 * @module
 */

import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import {
  aFunction,
  aNonEmptyString,
  aPositiveInteger,
  aTimeout,
  required,
} from "../../core/check/rules.ts";
import { aRedisClient, type RedisClient } from "../../core/redis/client.ts";
import { RedisLink } from "../../core/redis/link.ts";
import { Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { aTransformer } from "../server/option_rules.ts";
import {
  type Channel,
  type ChannelSubscribeOptions,
  SUBSCRIBE,
} from "./channel.ts";
import { DEFAULT_HISTORY, messagesLost } from "./message_ring.ts";
import { Persistence } from "./persistence.ts";
import { RedisReader } from "./redis_reader.ts";
import { compareIds, type Entry, isId, RedisStream } from "./redis_stream.ts";
import { RingReader } from "./ring_reader.ts";
import { startOf } from "./starting_position.ts";

export type { Channel, ChannelSubscribeOptions, RedisClient };
export type { Tracked, Transformer };

/** Settings of a channel in Redis. */
export interface RedisChannelOptions {
  /**
   * A client of `npm:redis` 5 or 6 or of `npm:ioredis`: for one server, for
   * Sentinel or for a cluster. The channel opens connections of its own with the
   * same settings, so the client needn't be connected.
   */
  readonly client: RedisClient;
  /** The key of the stream. Channels of the same name are one channel. */
  readonly name: string;
  /**
   * How many messages Redis keeps at least, and each process at most, for
   * subscribers that come back and for those that read slowly. The same in all
   * processes. Default 1,024.
   */
  readonly history?: number;
  /**
   * Turns values into text and back. Default: `JSON`, so that values must be
   * such as JSON carries.
   */
  readonly transformer?: Transformer;
  /** How long Redis may take for an answer, in seconds. Default 1. */
  readonly timeout?: number;
  /**
   * Called once for each outage, with an `UnavailableError`. Default: logs its
   * message.
   */
  readonly onError?: (error: Error) => unknown;
}

const OPTIONS: OptionRules<RedisChannelOptions> = {
  client: required(aRedisClient),
  name: required(aNonEmptyString),
  history: aPositiveInteger,
  transformer: aTransformer,
  timeout: aTimeout("seconds"),
  onError: aFunction,
};

/** A channel in Redis. */
export interface RedisChannel<T> extends Channel<T>, AsyncDisposable {
  /**
   * Resolves if Redis answers, for a readiness check.
   *
   * @throws {UnavailableError} If Redis can't be reached.
   */
  ping(): Promise<void>;
  /** Ends all subscriptions of this process and closes their connection. */
  close(): Promise<void>;
}

/** Ends a subscription in this process, with an error if there is one. */
type End = (failure?: { readonly error: unknown }) => void;

/**
 * Creates a channel in Redis. All subscriptions of this process share one
 * connection, which is there while somebody is subscribed. Another one publishes.
 *
 * `publish()` takes one round trip and never longer than `timeout`. While Redis
 * can't be reached it rejects with an `UnavailableError`. If Redis was too slow,
 * or the connection broke, the message may or may not have been published. It
 * rejects with a `TypeError` if the value can't be turned into text.
 *
 * Subscriptions don't end when Redis can't be reached: they wait. New ones begin
 * when it can be. Others go on after the last message that they gave, without a gap or a repetition, also on
 * another master. If Redis no longer has what they are owed, they end as
 * {@linkcode Channel} says. A silent loss of the connection is noticed and
 * repaired within two timeouts.
 *
 * Redis replicates asynchronously. So a new master may lack messages that the
 * old one has acknowledged. Subscribers that have seen one of them are told.
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
  const transformer = options.transformer ?? JSON;
  const settings = {
    client,
    what: `channel ${name}`,
    key: name,
    timeout: timeout * 1_000,
  };
  const link = new RedisLink({ ...settings, onError: options.onError });
  const stream = new RedisStream(link, name, history);
  const subscriptions = new Set<End>();
  const reader = new RedisReader<T>(
    // The other connection fails with it, and reports it.
    { ...settings, onError() {} },
    history,
    toMessage,
    (error) => endAll({ error }),
  );
  const closing = new AbortController();
  const persistence = new Persistence(link, closing.signal);

  async function publish(value: T): Promise<string> {
    checkOpen("publish");
    const text = transformer.stringify(value) as string | undefined;
    if (text !== undefined) return await stream.append(text);
    throw new TypeError(
      `Cannot publish: JSON doesn't carry a value of type ${typeof value}; a transformer may`,
    );
  }

  function toMessage({ id, text }: Entry): Tracked<T> | undefined {
    return text === undefined
      ? undefined
      : new Tracked(id, transformer.parse(text) as T);
  }

  function checkOpen(what: string): void {
    if (closing.signal.aborted) {
      throw new Error(`Cannot ${what}: the channel is closed`);
    }
  }

  function endAll(failure?: { readonly error: unknown }): void {
    for (const end of subscriptions) end(failure);
  }

  function subscribe(
    signal: AbortSignal,
    options: ChannelSubscribeOptions = {},
  ): AsyncIterableIterator<Tracked<T>> {
    checkOptions(options, SUBSCRIBE, "subscribe to channel");
    const { lastEventId } = options;
    checkOpen("subscribe");
    const start = startOf(options);
    const stop = new AbortController();
    let failed: { readonly error: unknown } | undefined;

    const end: End = (failure) => {
      if (!subscriptions.delete(end)) return;
      failed = failure;
      signal.removeEventListener("abort", abort);
      stop.abort();
      if (subscriptions.size === 0) reader.stop();
    };
    const abort = () => end();
    subscriptions.add(end);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();

    // Asked now, not when the first message is: what is published after this
    // call is what the subscriber gets.
    const newest = stop.signal.aborted ? undefined : begin();
    newest?.catch(() => {});

    async function begin(): Promise<string | undefined> {
      // A subscriber that comes back needs no other position.
      if (lastEventId !== undefined && reader.isRunning) return lastEventId;
      const id = await persistence.try(stop.signal, () => stream.tail());
      if (id === undefined || stop.signal.aborted) return undefined;
      reader.start(id);
      if (lastEventId === undefined) start?.(id);
      return id;
    }

    const messages = (async function* () {
      try {
        const id = await newest;
        if (id !== undefined && !stop.signal.aborted) {
          yield* read(lastEventId, id, stop.signal);
        }
        if (failed !== undefined) throw failed.error;
      } finally {
        end();
      }
    })();
    return {
      next: () => messages.next(),
      return() {
        // The generator may be waiting: this ends the wait.
        end();
        return messages.return();
      },
      [Symbol.asyncIterator]() {
        return this;
      },
    };
  }

  /** Yields the messages after `lastEventId`, or after the entry `newest`. */
  async function* read(
    lastEventId: string | undefined,
    newest: string,
    signal: AbortSignal,
  ): AsyncGenerator<Tracked<T>, undefined> {
    if (lastEventId !== undefined && !isId(lastEventId)) {
      throw messagesLost(history);
    }
    let id = lastEventId ?? newest;
    // The id may be one that a client made up.
    let exists = lastEventId === undefined;
    let position: number | undefined;
    // What this process holds no more, or never did, Redis may hold.
    while ((position = reader.find(id, exists)) === undefined) {
      const entries = await persistence.try(signal, () => stream.after(id));
      if (signal.aborted) return;
      if (entries === undefined || (exists && entries.length === 0)) {
        throw messagesLost(history);
      }
      exists = true;
      for (const entry of entries) {
        const message = toMessage(entry);
        if (message !== undefined) yield message;
        if (signal.aborted) return;
        id = entry.id;
      }
    }
    // The ring may be behind what Redis gave, and still get to that.
    let isNew = false;
    for await (const message of new RingReader(reader.ring, position, signal)) {
      isNew ||= compareIds(message.id, id) > 0;
      if (isNew) yield message;
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    endAll();
    await Promise.all([reader.stop(), link.close()]);
  }

  return {
    publish,
    subscribe,
    get subscribers() {
      return subscriptions.size;
    },
    async ping() {
      checkOpen("ping");
      await link.send(["PTTL", name]);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
