/**
 * A channel that several machines share, over a Redis stream. Needs Redis 5 or
 * later and a client of `npm:redis`.
 *
 * @module
 */

import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/check_options.ts";
import {
  aNonEmptyString,
  aPositiveInteger,
  withMethods,
} from "../../core/check/rules.ts";
import { Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { aTransformer } from "../server/option_rules.ts";
import {
  type Channel,
  type ChannelSubscribeOptions,
  SUBSCRIBE,
} from "./channel.ts";
import { DEFAULT_HISTORY, messagesLost } from "./message_ring.ts";
import { RedisReader } from "./redis_reader.ts";
import {
  after,
  append,
  type ChannelRedisClient,
  compareIds,
  type Entry,
  isId,
  persist,
  type RedisStream,
  tail,
} from "./redis_stream.ts";
import { RingReader } from "./ring_reader.ts";

export type { Channel, ChannelRedisClient, ChannelSubscribeOptions };
export type { Tracked, Transformer };

/** Settings of a channel in Redis. */
export interface RedisChannelOptions {
  /**
   * A client of `npm:redis`, connected when the channel is used. It stays the
   * caller's: the channel sends commands through it and never closes it.
   */
  readonly client: ChannelRedisClient;
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
}

const aRedisClient = withMethods("a client of npm:redis", "eval", "duplicate");

const OPTIONS: OptionRules<RedisChannelOptions> = {
  client: true,
  name: true,
  history: aPositiveInteger,
  transformer: aTransformer,
};

/** A channel in Redis. */
export interface RedisChannel<T> extends Channel<T>, AsyncDisposable {
  /** Ends all subscriptions of this process and closes their connection. */
  close(): Promise<void>;
}

/** A subscription in this process. */
interface Subscription {
  /** Ends it, with an error if there is one. */
  end(failure?: { readonly error: unknown }): void;
}

/** How long Redis waits for news before it says that there are none, in ms. */
const BLOCK = 10_000;

/**
 * Creates a channel in Redis. All subscriptions of this process share one
 * connection, which is there while somebody is subscribed.
 *
 * Where Redis goes away, subscriptions wait for the client to reconnect and go
 * on after the last message they gave, without a gap or a repetition; if Redis
 * has lost or deleted what they are owed, they end as {@linkcode Channel}
 * says. If the client gives up, they end with its error.
 *
 * `publish()` does what the client is set to do: by default it waits for the
 * connection, with `disableOfflineQueue` it rejects at once. If the connection
 * breaks before Redis has answered, it rejects, and the message may or may not
 * have been published. It also rejects if the value can't be turned into text,
 * and with what Redis answers, such as `LOADING` shortly after it was started.
 *
 * @param options The client, the name and the length of the history.
 * @throws {TypeError} If `history` is not a positive integer or the name is
 * empty.
 *
 * @example
 * ```ts
 * import { createRedisChannel } from "@quartet/kit/rpc/redis";
 * import { procedure } from "@quartet/kit/rpc";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * client.on("error", console.error);
 * // At the start of the server: await client.connect();
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
  const operation = "create channel";
  checkOptions(options, OPTIONS, operation);
  const { client, name, history = DEFAULT_HISTORY } = options;
  const transformer = options.transformer ?? JSON;
  checkValue(client, "client", aRedisClient, operation);
  checkValue(name, "name", aNonEmptyString, operation);
  const stream: RedisStream = { client, name, history, block: BLOCK };
  const subscriptions = new Set<Subscription>();
  const reader = new RedisReader<T>(
    stream,
    toMessage,
    (error) => endAll({ error }),
  );
  let closed = false;

  async function publish(value: T): Promise<string> {
    checkOpen("publish");
    const text = transformer.stringify(value) as string | undefined;
    if (text !== undefined) return await append(stream, text);
    throw new TypeError(
      `Cannot publish: JSON doesn't carry a value of type ${typeof value}; a transformer may`,
    );
  }

  function toMessage({ id, message: { v } }: Entry): Tracked<T> | undefined {
    return v === undefined
      ? undefined
      : new Tracked(id, transformer.parse(v) as T);
  }

  function checkOpen(what: string): void {
    if (closed) throw new Error(`Cannot ${what}: the channel is closed`);
  }

  function endAll(failure?: { readonly error: unknown }): void {
    for (const subscription of subscriptions) subscription.end(failure);
  }

  function subscribe(
    signal: AbortSignal,
    options: ChannelSubscribeOptions = {},
  ): AsyncIterableIterator<Tracked<T>> {
    checkOptions(options, SUBSCRIBE, "subscribe to channel");
    const { lastEventId } = options;
    checkOpen("subscribe");
    const stop = new AbortController();
    let failed: { readonly error: unknown } | undefined;

    const subscription: Subscription = {
      end(failure) {
        if (!subscriptions.delete(subscription)) return;
        failed = failure;
        signal.removeEventListener("abort", abort);
        stop.abort();
        if (subscriptions.size === 0) reader.stop();
      },
    };
    const abort = () => subscription.end();
    subscriptions.add(subscription);
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();

    // Asked now, not when the first message is: what is published after this
    // call is what the subscriber gets.
    const newest = stop.signal.aborted
      ? undefined
      : unlessAborted(stop.signal, () => tail(stream));
    newest?.catch(() => {});

    const messages = (async function* () {
      try {
        const id = await newest;
        if (id !== undefined && !stop.signal.aborted) {
          reader.start(id);
          yield* read(lastEventId, id, stop.signal);
        }
        if (failed !== undefined) throw failed.error;
      } finally {
        subscription.end();
      }
    })();
    return {
      next: () => messages.next(),
      return() {
        // The generator may be waiting: this ends the wait.
        subscription.end();
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
      const entries = await unlessAborted(signal, () => after(stream, id));
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

  /** Asks Redis, through a reconnect if need be, and no longer than wanted. */
  function unlessAborted<V>(
    signal: AbortSignal,
    ask: () => Promise<V>,
  ): Promise<V | undefined> {
    return new Promise((resolve, reject) => {
      const stop = () => resolve(undefined);
      signal.addEventListener("abort", stop);
      persist(client, signal, ask).then(resolve, reject)
        .finally(() => signal.removeEventListener("abort", stop));
    });
  }

  async function close(): Promise<void> {
    closed = true;
    endAll();
    await reader.stop();
  }

  return {
    publish,
    subscribe,
    get subscribers() {
      return subscriptions.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
