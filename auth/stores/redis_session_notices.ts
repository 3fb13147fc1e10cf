import { HASHED } from "../../core/key_part.ts";
import type { RedisClient, RedisConnection } from "../../core/redis/client.ts";
import { createConnection } from "../../core/redis/connection.ts";
import { Pulse, type RedisLink } from "../../core/redis/link.ts";
import { logMessage } from "../../core/report_error.ts";
import { StoreLink } from "../../core/store_link.ts";

/** Called with the ids of sessions, or `undefined` if some were missed. */
export type EndListener = (ids: readonly string[] | undefined) => void;

/** Options of {@linkcode SessionNotices}. */
export interface SessionNoticesOptions {
  readonly client: RedisClient;
  readonly channel: string;
  /** How long to wait for Redis, in milliseconds. */
  readonly timeout: number;
  /** The connection for commands, which reports its own outages. */
  readonly commands: RedisLink;
  readonly onError?: ((error: Error) => unknown) | undefined;
}

/**
 * Receives the ids of ended sessions over a connection of its own, which is open
 * while there are listeners.
 */
export class SessionNotices {
  readonly #options: SessionNoticesOptions;
  readonly #listeners = new Set<EndListener>();
  #link: StoreLink<RedisConnection> | undefined;
  #closing: Promise<void> | undefined;
  #isClosed = false;

  /** Creates it without a connection. */
  constructor(options: SessionNoticesOptions) {
    this.#options = options;
  }

  /** Adds a listener, and returns a function that removes it. */
  add(listener: EndListener): () => void {
    if (this.#isClosed) return () => {};
    // The same function may be added twice.
    const own: EndListener = (ids) => listener(ids);
    this.#listeners.add(own);
    this.#link ??= this.#createLink();
    this.#link.open();
    return () => {
      if (this.#listeners.delete(own) && this.#listeners.size === 0) {
        this.#closeLink();
      }
    };
  }

  /** Removes all listeners, and closes the connection. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#listeners.clear();
    this.#closeLink();
    await this.#closing;
  }

  #closeLink(): void {
    const closing = this.#link?.close();
    this.#link = undefined;
    this.#closing = Promise.all([this.#closing, closing]).then(() => {});
  }

  #tell(ids: readonly string[] | undefined): void {
    for (const listener of this.#listeners) listener(ids);
  }

  #createLink(): StoreLink<RedisConnection> {
    const { client, channel, timeout, commands, onError = logMessage } =
      this.#options;
    const pulse = new Pulse(channel);
    return new StoreLink({
      what: "session store, to hear of sessions that end",
      server: "Redis",
      timeout,
      // If no connection works, the one for commands says so.
      onError: (error) => commands.isOpen ? onError(error) : undefined,
      connect: (lose) => {
        const connection = createConnection(client, lose);
        const open = async () => {
          await connection.connect();
          await connection.subscribe(pulse.channel, () => pulse.arrive());
          await connection.subscribe(
            channel,
            (message) => this.#tell(readMessage(message)),
          );
          // Earlier messages were missed.
          this.#tell(undefined);
          return connection;
        };
        return { ready: open(), close: () => connection.close() };
      },
      beat: () => pulse.beat(commands),
      // The connection for commands may work. Then listeners can look.
      onLost: () => this.#tell(undefined),
      isLost: () => true,
      isPassing: () => false,
    });
  }
}

/** Returns the ids in a message, or `undefined` if one is hashed. */
function readMessage(message: string): readonly string[] | undefined {
  try {
    const ids = JSON.parse(message) as string[];
    return ids.some((id) => id.startsWith(HASHED)) ? undefined : ids;
  } catch {
    return undefined;
  }
}
