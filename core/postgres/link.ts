import { checkValue } from "../check/options.ts";
import { toDelay } from "../promises.ts";
import { createStoreLink } from "../store_link.ts";
import { aPostgresClient, type PostgresClient } from "./client.ts";
import {
  createConnection,
  type PostgresConnection,
  type PostgresRow,
} from "./connection.ts";
import { isConnectionLost, isTemporary } from "./errors.ts";
import type { PostgresPoolOptions } from "./options.ts";
import { type Create, createPool, type PostgresStatement } from "./pool.ts";
import { prepareTables, type Tables } from "./tables.ts";

/** Options of {@linkcode createPostgresLink}. */
interface PostgresLinkOptions extends Omit<PostgresPoolOptions, "schema"> {
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
 * Creates connections to Postgres, which open at the first use and reopen by
 * themselves. See {@linkcode createStoreLink}. If one fails, all are replaced.
 *
 * @throws {TypeError} If `connect` doesn't create a supported client.
 */
export function createPostgresLink(options: PostgresLinkOptions) {
  const { connect, operation } = options;
  const timeout = toDelay(options.timeout ?? 1);
  const clients = new WeakSet<PostgresClient>();
  /** The client that `connect` was checked with, for the first connection. */
  let first: PostgresClient | undefined = createClient();
  let isListening = false;
  let closing: Promise<unknown> = Promise.resolve();

  const link = createStoreLink<Connections>({
    ...options,
    timeout,
    server: "Postgres",
    connect(lose) {
      const connections = createConnections(options, timeout, create, lose);
      return {
        ready: connections.open(isListening).then(() => connections),
        close: () => {
          closing = Promise.all([closing, connections.close()]);
        },
      };
    },
    beat: (connections) => connections.beat(),
    isLost: isConnectionLost,
    isTemporary,
  });

  function createClient(): PostgresClient {
    const client = connect();
    checkValue(client, "the result of connect()", aPostgresClient, operation);
    if (clients.has(client)) {
      throw new TypeError(
        `Cannot ${operation}: connect() must create a client each time, received the same again`,
      );
    }
    clients.add(client);
    return client;
  }

  function create(onError: (error: Error) => void): PostgresConnection {
    const client = first ?? createClient();
    first = undefined;
    return createConnection(client, onError);
  }

  function run(
    prepare: () => PostgresStatement,
  ): Promise<readonly PostgresRow[]> {
    return link.use(({ pool }) => pool.run(prepare));
  }

  return {
    /** Whether there are connections now. */
    get isOpen() {
      return link.isOpen;
    },

    /** Runs a statement. See {@linkcode createStoreLink} for errors. */
    query: (text: string, values: readonly (string | null)[] = []) =>
      run(() => [text, values]),

    /**
     * Runs a statement.
     *
     * @param prepare Called when it is sent: at once if a connection is free.
     */
    run,

    /** Listens from now on, also after reconnects. */
    listen(): void {
      if (isListening) return;
      isListening = true;
      // If it fails, the next connection listens.
      link.use((connections) => connections.listen()).catch(() => {});
    },

    /** Closes the connections. Later calls reject. */
    async close(): Promise<void> {
      await link.close();
      await closing;
    },
  };
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
