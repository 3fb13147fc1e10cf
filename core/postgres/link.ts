import { checkValue } from "../check/options.ts";
import { toDelay } from "../promises.ts";
import { type LinkConnection, StoreLink } from "../store_link.ts";
import { aPostgresClient, type PostgresClient } from "./client.ts";
import {
  createConnection,
  type PostgresConnection,
  type PostgresRow,
} from "./connection.ts";
import { isConnectionLost, isPassing } from "./errors.ts";
import type { PostgresPoolOptions } from "./options.ts";
import { type Create, createPool, type PostgresStatement } from "./pool.ts";
import { prepareTables, type Tables } from "./tables.ts";

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
export class PostgresLink extends StoreLink<Connections> {
  readonly #options: PostgresLinkOptions;
  /** How long to wait for a connection or an answer, in milliseconds. */
  readonly #timeout: number;
  readonly #clients = new WeakSet<PostgresClient>();
  /** The client that `connect` was checked with, for the first connection. */
  #first: PostgresClient | undefined;
  #isListening = false;
  #closing: Promise<unknown> = Promise.resolve();

  /**
   * Creates a link that connects at its first use.
   *
   * @throws {TypeError} If `connect` doesn't create a supported client.
   */
  constructor(options: PostgresLinkOptions) {
    const timeout = toDelay(options.timeout ?? 1);
    super({
      ...options,
      timeout,
      server: "Postgres",
      connect: (lose) => this.#connect(lose),
      beat: (connections) => connections.beat(),
      isLost: isConnectionLost,
      isPassing,
    });
    this.#options = options;
    this.#timeout = timeout;
    this.#first = this.#createClient();
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
    return this.use(({ pool }) => pool.run(prepare));
  }

  /** Listens from now on, also after reconnects. */
  listen(): void {
    if (this.#isListening) return;
    this.#isListening = true;
    // If it fails, the next connection listens.
    this.use((connections) => connections.listen()).catch(() => {});
  }

  /** Closes the connections. Later calls reject. */
  override async close(): Promise<void> {
    await super.close();
    await this.#closing;
  }

  #connect(lose: (error: Error) => void): LinkConnection<Connections> {
    const connections = createConnections(
      this.#options,
      this.#timeout,
      (onError) => createConnection(this.#takeClient(), onError),
      lose,
    );
    return {
      ready: connections.open(this.#isListening).then(() => connections),
      close: () => {
        this.#closing = Promise.all([this.#closing, connections.close()]);
      },
    };
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

type Connections = ReturnType<typeof createConnections>;

/** Creates the connections of a link, which `open()` opens. */
function createConnections(
  { tables, listen: notifications, maxConnections = 4 }: PostgresLinkOptions,
  timeout: number,
  create: Create,
  lose: (error: Error) => void,
) {
  const tag = `/* @quartet/kit ${tables.last} */ `;
  const pool = createPool(createUnlessClosed, lose, maxConnections, tag);
  let listener: PostgresConnection | undefined;
  let isListening = false;
  let isClosed = false;
  let beating: Promise<unknown> | undefined;

  function checkOpen(): void {
    if (isClosed) throw new Error("the connection was closed");
  }

  /** Work that continues after closing must open no other connection. */
  function createUnlessClosed(onError: (error: Error) => void) {
    checkOpen();
    return create(onError);
  }

  async function open(listens: boolean): Promise<void> {
    await pool.open();
    await prepareTables(pool.run, tables, tag, timeout);
    if (listens) await listen();
  }

  async function listen(): Promise<void> {
    if (listener !== undefined) return;
    try {
      listener = createUnlessClosed(lose);
      await openListener(listener);
    } catch (error) {
      lose(error as Error);
      throw error;
    }
  }

  async function openListener(listener: PostgresConnection): Promise<void> {
    const { channel, onMessage, onListen } = notifications!;
    const pulse = PULSE + crypto.randomUUID();
    const arrived = Promise.withResolvers<void>();
    await listener.connect();
    checkOpen();
    await listener.listen(channel, (payload) => {
      if (payload === pulse) arrived.resolve();
      else if (isListening && !payload.startsWith(PULSE)) onMessage(payload);
    });
    // Fails with a pooler in transaction mode.
    await pool.run(() => [NOTIFY, [channel, pulse]]);
    await arrived.promise;
    isListening = true;
    onListen();
  }

  function beat(): Promise<unknown> {
    const other = isListening ? listener : undefined;
    return beating ??= Promise.all([pool.beat(), other?.beat()])
      .finally(() => beating = undefined);
  }

  function close(): Promise<unknown> {
    isClosed = true;
    return Promise.all([pool.close(), listener?.close()]);
  }

  return { pool, open, listen, beat, close };
}

const NOTIFY = "SELECT pg_notify($1::text, $2::text)::text";
/** Prefix of a notification to oneself, which proves that they arrive. */
const PULSE = "pulse ";
