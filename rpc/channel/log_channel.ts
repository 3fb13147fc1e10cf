import { UnavailableError } from "../../core/error_response.ts";
import { pause } from "../../core/promises.ts";
import { ENDS, Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { type ChannelSubscribeOptions, checkSubscribe } from "./channel.ts";
import { createLogReader } from "./log_reader.ts";
import type { Entry, MessageLog } from "./message_log.ts";
import { messagesLost, RingReader, startOf } from "./message_ring.ts";

/** Time between two checks for a connection, in milliseconds. */
const RETRY_AFTER = 200;

/** The reason of a subscription that ends without an error. */
const ENDED = Symbol();

/**
 * Creates a channel that several processes share, over a log. All subscriptions of
 * this process share the copies of the newest messages. They read the others from
 * the log.
 *
 * @param history The number of messages to copy.
 */
export function createLogChannel<T>(
  log: MessageLog,
  history: number,
  transformer: Transformer = JSON,
) {
  /** Ends the subscriptions of this process, with an error or `ENDED`. */
  const subscriptions = new Set<(reason: unknown) => void>();
  const reader = createLogReader(log, history, toMessage, endAll);
  const closing = new AbortController();
  let reconnected: Promise<void> | undefined;

  async function publish(value: T): Promise<string> {
    checkOpen("publish");
    const text = transformer.stringify(value) as string | undefined;
    if (text !== undefined) return await log.append(text);
    throw new TypeError(
      `Cannot publish: JSON can't represent a value of type ${typeof value}; set a transformer`,
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

  function endAll(reason: unknown): void {
    for (const end of subscriptions) end(reason);
  }

  /**
   * Runs read-only work, and retries it while the server can't be reached. Resolves
   * with `undefined` when the signal aborts.
   */
  function retry<V>(
    signal: AbortSignal,
    work: () => Promise<V>,
  ): Promise<V | undefined> {
    const { promise, resolve, reject } = Promise.withResolvers<V | undefined>();
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop);
    repeat(signal, work).then(resolve, reject)
      .finally(() => signal.removeEventListener("abort", stop));
    return promise;
  }

  async function repeat<V>(
    signal: AbortSignal,
    work: () => Promise<V>,
  ): Promise<V | undefined> {
    while (!signal.aborted) {
      try {
        return await work();
      } catch (error) {
        if (!(error instanceof UnavailableError)) throw error;
      }
      // All subscriptions share one timer.
      await (reconnected ??= reconnect());
    }
  }

  async function reconnect(): Promise<void> {
    do {
      await pause(RETRY_AFTER, closing.signal);
    } while (!log.isOpen && !closing.signal.aborted);
    reconnected = undefined;
  }

  function subscribe(
    signal: AbortSignal,
    options: ChannelSubscribeOptions = {},
  ): AsyncIterableIterator<Tracked<T>> {
    checkSubscribe(signal, options);
    const { lastEventId } = options;
    checkOpen("subscribe");
    const start = startOf(options);
    const stop = new AbortController();

    const end = (reason: unknown) => {
      if (!subscriptions.delete(end)) return;
      for (const type of ENDS) signal.removeEventListener(type, abort);
      stop.abort(reason);
      if (subscriptions.size === 0) reader.stop();
    };
    const abort = () => end(ENDED);
    subscriptions.add(end);
    for (const type of ENDS) signal.addEventListener(type, abort);
    if (signal.aborted) abort();

    // Asked here, so that the subscriber gets everything published after this
    // call.
    const newest = begin();
    newest.catch(() => {});

    async function begin(): Promise<string | undefined> {
      // A returning subscriber has a position already.
      if (lastEventId !== undefined && reader.isRunning) return lastEventId;
      const id = await retry(stop.signal, () => log.tail());
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
        const { aborted, reason } = stop.signal;
        if (aborted && reason !== ENDED) throw reason;
      } finally {
        abort();
      }
    })();
    const leave = messages.return.bind(messages);
    messages.return = (value) => {
      // Wakes the generator if it waits.
      abort();
      return leave(value);
    };
    return messages;
  }

  /** Yields the messages after `lastEventId`, or after the entry `newest`. */
  async function* read(
    lastEventId: string | undefined,
    newest: string,
    signal: AbortSignal,
  ): AsyncGenerator<Tracked<T>, undefined> {
    if (lastEventId !== undefined && !log.isId(lastEventId)) {
      throw messagesLost(history);
    }
    let id = lastEventId ?? newest;
    // A client may have made the id up.
    let exists = lastEventId === undefined;
    let position: number | undefined;
    // The log may hold messages that the ring doesn't.
    while ((position = reader.find(id, exists)) === undefined) {
      const entries = await retry(signal, () => log.after(id));
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
    // The ring may be behind the log, and catch up.
    let isNew = false;
    for await (const message of new RingReader(reader.ring, position, signal)) {
      isNew ||= log.compareIds(message.id, id) > 0;
      if (isNew) yield message;
    }
  }

  async function close(): Promise<void> {
    closing.abort();
    endAll(ENDED);
    await Promise.all([reader.stop(), log.close()]);
  }

  return {
    publish,
    subscribe,
    get subscribers() {
      return subscriptions.size;
    },
    async ping() {
      checkOpen("ping");
      await log.ping();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
