import { checkValue } from "../check/options.ts";
import { pause } from "../runtime/pause.ts";
import { toDelay } from "../runtime/timeouts.ts";
import { StoreLink } from "../store_link.ts";
import { aPostgresClient, type PostgresClient } from "./client.ts";
import {
  createConnection,
  type PostgresConnection,
  type PostgresRow,
} from "./connection.ts";
import { isConnectionLost, isPassing } from "./errors.ts";
import type { PostgresPoolOptions } from "./options.ts";
import { ConnectionPool, type PostgresStatement } from "./pool.ts";
import { createTables, type Query, type Tables } from "./tables.ts";

/** Options of a {@linkcode PostgresLink}. */
export interface PostgresLinkOptions
  extends Omit<PostgresPoolOptions, "schema"> {
  /** The operation in errors of a wrong client, such as `create channel`. */
  readonly operation: string;
  /** The link's user in errors and logs, such as `session store`. */
  readonly what: string;
  /** The tables. Missing ones are created. */
  readonly tables: Tables;
  /** Notifications to listen to, over a separate connection. */
  readonly listen?: {
    readonly channel: string;
    readonly onMessage: (payload: string) => void;
    /** Called when it listens. Earlier messages are missed. */
    readonly onListen: () => void;
  };
}

/**
 * Connections to Postgres that reopen by themselves. See {@linkcode StoreLink}. If
 * one fails, all are replaced.
 */
export class PostgresLink {
  readonly #options: PostgresLinkOptions;
  /** How long to wait for a connection or an answer, in milliseconds. */
  readonly #timeout: number;
  readonly #link: StoreLink<Connections>;
  readonly #clients = new WeakSet<PostgresClient>();
  /** The client that `connect` was checked with, for the first connection. */
  #first: PostgresClient | undefined;
  #isListening = false;
  readonly #closing = new Set<Promise<unknown>>();

  /**
   * Creates a link that connects at its first use.
   *
   * @throws {TypeError} If `connect` doesn't create a supported client.
   */
  constructor(options: PostgresLinkOptions) {
    this.#options = options;
    this.#timeout = toDelay(options.timeout ?? 1);
    this.#first = this.#createClient();
    this.#link = new StoreLink({
      ...options,
      timeout: this.#timeout,
      server: "Postgres",
      connect: (lose) => {
        const connections = new Connections(
          options,
          (onError) => createConnection(this.#takeClient(), onError),
          lose,
        );
        return {
          ready: connections.open(this.#isListening),
          close: () => {
            const closed = connections.close();
            this.#closing.add(closed);
            closed.finally(() => this.#closing.delete(closed));
          },
        };
      },
      beat: (connections) => connections.beat(),
      isLost: isConnectionLost,
      isPassing,
    });
  }

  /** Whether there is a connection now. */
  get isOpen(): boolean {
    return this.#link.isOpen;
  }

  /** Runs a statement. See {@linkcode StoreLink.use} for errors. */
  query(
    text: string,
    values: readonly (string | null)[] = [],
  ): Promise<readonly PostgresRow[]> {
    return this.run(() => [text, values]);
  }

  /**
   * Runs a statement.
   *
   * @param prepare Called when it is sent: at once if a connection is free.
   */
  run(prepare: () => PostgresStatement): Promise<readonly PostgresRow[]> {
    return this.#link.use(({ pool }) => pool.run(prepare));
  }

  /** Listens from now on, also after reconnects. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    // If it fails, the next connection listens.
    this.#link.use((connections) => connections.listen()).catch(() => {});
  }

  /** Closes the connections. Later calls reject. */
  async close(): Promise<void> {
    await this.#link.close();
    // A connection to a server that went away may never close properly.
    const limit = new AbortController();
    const closed = Promise.all(this.#closing).then(() => limit.abort());
    await Promise.race([closed, pause(this.#timeout, limit.signal)]);
  }

  #createClient(): PostgresClient {
    const { connect, operation } = this.#options;
    const client = connect();
    checkValue(client, "the result of connect()", aPostgresClient, operation);
    if (this.#clients.has(client)) {
      throw new TypeError(
        `Cannot ${operation}: connect() must create a client each time, received the same again`,
      );
    }
    this.#clients.add(client);
    return client;
  }

  #takeClient(): PostgresClient {
    const client = this.#first ?? this.#createClient();
    this.#first = undefined;
    return client;
  }
}

/** The connections of a link, from opening to closing. */
class Connections {
  readonly pool: ConnectionPool;
  readonly #options: PostgresLinkOptions;
  readonly #createListener: () => PostgresConnection;
  readonly #lose: (error: Error) => void;
  #listener: PostgresConnection | undefined;
  #isListening = false;
  #isClosed = false;
  #beat: Promise<unknown> | undefined;

  constructor(
    options: PostgresLinkOptions,
    create: (onError: (error: Error) => void) => PostgresConnection,
    lose: (error: Error) => void,
  ) {
    this.#options = options;
    this.#lose = lose;
    // Work that continues after closing must open no other connection.
    const createUnlessClosed = (onError: (error: Error) => void) => {
      this.#checkOpen();
      return create(onError);
    };
    this.#createListener = () => createUnlessClosed(lose);
    const { maxConnections: max = 4 } = options;
    this.pool = new ConnectionPool({
      create: createUnlessClosed,
      onError: lose,
      max,
    });
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new Error("the connection was closed");
  }

  async open(isListening: boolean): Promise<this> {
    const query: Query = (...statement: PostgresStatement) =>
      this.pool.run(() => statement);
    await this.pool.open();
    await createTables(query, this.#options.tables);
    if (isListening) await this.listen();
    return this;
  }

  async listen(): Promise<void> {
    if (this.#listener !== undefined) return;
    try {
      await this.#openListener();
    } catch (error) {
      this.#lose(error as Error);
      throw error;
    }
  }

  async #openListener(): Promise<void> {
    const { channel, onMessage, onListen } = this.#options.listen!;
    const listener = this.#listener = this.#createListener();
    const pulse = PULSE + crypto.randomUUID();
    const arrived = Promise.withResolvers<void>();
    await listener.connect();
    this.#checkOpen();
    await listener.listen(channel, (payload) => {
      if (payload === pulse) arrived.resolve();
      else if (!payload.startsWith(PULSE)) onMessage(payload);
    });
    // Fails with a pooler in transaction mode.
    await this.pool.run(() => [NOTIFY, [channel, pulse]]);
    await arrived.promise;
    this.#isListening = true;
    onListen();
  }

  beat(): Promise<unknown> {
    const listener = this.#isListening ? this.#listener : undefined;
    return this.#beat ??= Promise.all([this.pool.beat(), listener?.beat()])
      .finally(() => this.#beat = undefined);
  }

  close(): Promise<unknown> {
    this.#isClosed = true;
    return Promise.all([this.pool.close(), this.#listener?.close()]);
  }
}

const NOTIFY = "SELECT pg_notify($1::text, $2::text)::text";
/** Prefix of a notification to oneself, which proves that they arrive. */
const PULSE = "pulse ";
