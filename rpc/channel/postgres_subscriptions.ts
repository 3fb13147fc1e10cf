import { pause } from "../../core/runtime/pause.ts";
import { UnavailableError } from "../../core/unavailable.ts";
import type { Tracked } from "../procedure/tracked.ts";
import type { ChannelSubscribeOptions } from "./channel.ts";
import { messagesLost } from "./message_ring.ts";
import { type Entry, isId, type PostgresLog, seqOf } from "./postgres_log.ts";
import type { PostgresReader } from "./postgres_reader.ts";
import { RingReader } from "./ring_reader.ts";
import { startOf } from "./starting_position.ts";

/** The pause before a failed query is repeated, in milliseconds. */
const RETRY_PAUSE = 200;

/** Settings of {@linkcode PostgresSubscriptions}. */
export interface PostgresSubscriptionsOptions<T> {
  /** The messages. */
  readonly log: PostgresLog;
  /** The newest of them, in this process. */
  readonly reader: PostgresReader<T>;
  /** How many messages are kept. */
  readonly history: number;
  /** Reads a message. */
  readonly read: (entry: Entry) => Tracked<T> | undefined;
  /** Called when somebody subscribes to a channel without subscriptions. */
  readonly onFirst: () => void;
}

/** The error that ended a subscription. */
interface Failure {
  readonly error: unknown;
}

/** A subscription in this process. */
interface Subscription {
  end(failure?: Failure): void;
}

/** The subscriptions of a channel in this process. */
export class PostgresSubscriptions<T> {
  readonly #options: PostgresSubscriptionsOptions<T>;
  readonly #all = new Set<Subscription>();

  /** Creates a set without subscriptions. */
  constructor(options: PostgresSubscriptionsOptions<T>) {
    this.#options = options;
  }

  /** How many there are. */
  get size(): number {
    return this.#all.size;
  }

  /** Ends all of them. */
  endAll(failure?: Failure): void {
    for (const subscription of this.#all) subscription.end(failure);
  }

  /** Adds one. See {@linkcode Channel.subscribe}. */
  add(
    signal: AbortSignal,
    options: ChannelSubscribeOptions,
  ): AsyncIterableIterator<Tracked<T>> {
    const { log, reader, onFirst } = this.#options;
    const { lastEventId } = options;
    const start = startOf(options);
    const all = this.#all;
    const stop = new AbortController();
    let failed: Failure | undefined;

    const subscription: Subscription = {
      end(failure) {
        if (!all.delete(subscription)) return;
        failed = failure;
        signal.removeEventListener("abort", abort);
        stop.abort();
        if (all.size === 0) reader.stop();
      },
    };
    const abort = () => subscription.end();
    all.add(subscription);
    if (all.size === 1) onFirst();
    signal.addEventListener("abort", abort);
    if (signal.aborted) abort();

    // Asked now, not when the first message is: what is published after this
    // call is what the subscriber gets.
    const newest = unlessAborted(stop.signal, () => log.tail());
    newest.catch(() => {});

    const messages = (async function* (read) {
      try {
        const id = await newest;
        if (id !== undefined && !stop.signal.aborted) {
          reader.start(id);
          if (lastEventId === undefined) start?.(id);
          yield* read(lastEventId, id, stop.signal);
        }
        if (failed !== undefined) throw failed.error;
      } finally {
        subscription.end();
      }
    })(this.#read.bind(this));
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

  /** Yields the messages after `lastEventId`, or after the row `newest`. */
  async *#read(
    lastEventId: string | undefined,
    newest: string,
    signal: AbortSignal,
  ): AsyncGenerator<Tracked<T>, undefined> {
    const { log, reader, read, history } = this.#options;
    if (lastEventId !== undefined && !isId(lastEventId)) {
      throw messagesLost(history);
    }
    let id = lastEventId ?? newest;
    // The id may be one that a client made up.
    let exists = lastEventId === undefined;
    let position: number | undefined;
    // Postgres may hold messages that this process doesn't.
    while ((position = reader.find(id, exists)) === undefined) {
      const entries = await unlessAborted(signal, () => log.catchUp(id));
      if (signal.aborted) return;
      if (entries === undefined || (exists && entries.length === 0)) {
        throw messagesLost(history);
      }
      exists = true;
      for (const entry of entries) {
        const message = read(entry);
        if (message !== undefined) yield message;
        if (signal.aborted) return;
        id = entry.id;
      }
    }
    // The ring may be behind what Postgres gave, and still get to that.
    let isNew = false;
    for await (const message of new RingReader(reader.ring, position, signal)) {
      isNew ||= seqOf(message.id) > seqOf(id);
      if (isNew) yield message;
    }
  }
}

/** Asks as often as needed while Postgres is away, and no longer than wanted. */
function unlessAborted<V>(
  signal: AbortSignal,
  ask: () => Promise<V>,
): Promise<V | undefined> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return resolve(undefined);
    const stop = () => resolve(undefined);
    signal.addEventListener("abort", stop);
    (async () => {
      while (!signal.aborted) {
        try {
          return resolve(await ask());
        } catch (error) {
          if (!(error instanceof UnavailableError)) return reject(error);
        }
        await pause(RETRY_PAUSE, signal);
      }
    })().finally(() => signal.removeEventListener("abort", stop));
  });
}
