import { ENDS, Tracked } from "../procedure/tracked.ts";
import type { Transformer } from "../protocol.ts";
import { type ChannelSubscribeOptions, checkSubscribe } from "./channel.ts";
import { createLogReader } from "./log_reader.ts";
import type { Entry, MessageLog } from "./message_log.ts";
import { messagesLost, RingReader, startOf } from "./message_ring.ts";
import { createRetry } from "./retry.ts";

/** Ends a subscription in this process, with an error if there is one. */
type End = (failure?: { readonly error: unknown }) => void;

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
  const subscriptions = new Set<End>();
  const reader = createLogReader(
    log,
    history,
    toMessage,
    (error) => endAll({ error }),
  );
  const closing = new AbortController();
  const retry = createRetry(log, closing.signal);

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

  function endAll(failure?: { readonly error: unknown }): void {
    for (const end of subscriptions) end(failure);
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
    let failed: { readonly error: unknown } | undefined;

    const end: End = (failure) => {
      if (!subscriptions.delete(end)) return;
      failed = failure;
      for (const type of ENDS) signal.removeEventListener(type, abort);
      stop.abort();
      if (subscriptions.size === 0) reader.stop();
    };
    const abort = () => end();
    subscriptions.add(end);
    for (const type of ENDS) signal.addEventListener(type, abort);
    if (signal.aborted) abort();

    // Asked here, so that the subscriber gets everything published after this
    // call.
    const newest = stop.signal.aborted ? undefined : begin();
    newest?.catch(() => {});

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
        if (failed !== undefined) throw failed.error;
      } finally {
        end();
      }
    })();
    const leave = messages.return.bind(messages);
    messages.return = (value) => {
      // Wakes the generator if it waits.
      end();
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
    endAll();
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
