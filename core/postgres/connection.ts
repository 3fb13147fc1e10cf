/**
 * A connection to Postgres, independent of the driver.
 *
 * `npm:postgres` reconnects by itself. To prevent that, a connection is closed at
 * its first failure, and never reopened.
 *
 * @module
 */

import { settlesWithin } from "../promises.ts";
import { driverOf, type PostgresClient } from "./client.ts";

/** A row of a result. All columns are text. */
export type PostgresRow = readonly (string | null)[];

/** A connection of the kit, for one query at a time. */
export interface PostgresConnection {
  /** Opens it. */
  connect(): Promise<unknown>;
  /**
   * Runs a statement. Without `values`, several statements run as a transaction.
   */
  query(
    text: string,
    values?: readonly (string | null)[],
  ): Promise<readonly PostgresRow[]>;
  /** Listens to a notification channel. */
  listen(
    channel: string,
    onMessage: (payload: string) => void,
  ): Promise<unknown>;
  /** Waits for an answer on the connection that listens. */
  beat(): Promise<unknown>;
  /**
   * Closes it at once, in any state. Resolves when it is closed, or a server that went
   * away hasn't closed its side in time. No timer is left then.
   */
  close(): Promise<unknown>;
}

type OnError = (error: Error) => void;

/** The part of `npm:pg` clients that the kit uses. */
interface Pg {
  connect(): Promise<unknown>;
  query(config: {
    text: string;
    values?: (string | null)[] | undefined;
    rowMode: "array";
    types: unknown;
  }): Promise<{ rows: PostgresRow[] }>;
  on(
    event: "error" | "end" | "notification",
    listener: (...args: never[]) => void,
  ): unknown;
  end(): Promise<unknown>;
  readonly connection?: {
    readonly stream?: { destroy?(): void; destroySoon?(): void };
  };
}

/** The part of `npm:postgres` clients that the kit uses. */
interface PostgresJs {
  readonly options?: object;
  unsafe(
    text: string,
    values?: (string | null)[],
    options?: { prepare: boolean },
  ): { values(): Promise<PostgresRow[]> };
  readonly listen:
    & ((
      channel: string,
      onMessage: (payload: string) => void,
      onListen?: () => void,
    ) => Promise<{ unlisten(): Promise<unknown> }>)
    & { readonly sql?: PostgresJs };
  end(options: { timeout: number }): Promise<unknown>;
}

/**
 * Creates a connection from a client that nothing else uses.
 *
 * @param onError Called when it fails, also after it was closed.
 */
export function createConnection(
  client: PostgresClient,
  onError: OnError,
): PostgresConnection {
  const connection = driverOf(client) === "pg"
    ? ofPg(client as unknown as Pg, onError)
    : ofPostgresJs(client as unknown as PostgresJs, onError);
  let closed: Promise<unknown> | undefined;
  return { ...connection, close: () => closed ??= connection.close() };
}

/** Seconds to wait for a connection to open or close by itself. */
const CLOSE_TIMEOUT = 0.5;

/** Reads all columns as text. */
const TYPES = { getTypeParser: () => String };

function ofPg(client: Pg, onError: OnError): PostgresConnection {
  let isOpen = false;
  client.on("error", onError);
  client.on("end", () => onError(new Error("the connection was closed")));
  const query: PostgresConnection["query"] = async (text, values) => {
    const { rows } = await client.query({
      text,
      values: values && [...values],
      rowMode: "array",
      types: TYPES,
    });
    return rows;
  };
  return {
    async connect() {
      await client.connect();
      isOpen = true;
    },
    query,
    listen(channel, onMessage) {
      client.on(
        "notification",
        (message: { channel: string; payload?: string }) => {
          if (message.channel === channel) onMessage(message.payload ?? "");
        },
      );
      return query(`LISTEN "${channel}"`);
    },
    beat: () => query("SELECT 1"),
    close() {
      const ended = settlesWithin(client.end(), CLOSE_TIMEOUT * 1_000);
      // A server that went away never closes its side.
      const stream = client.connection?.stream;
      if (isOpen) stream?.destroySoon?.();
      else stream?.destroy?.();
      return ended;
    },
  };
}

/** Opens no socket. */
function refuse(): never {
  throw new Error("the connection was closed");
}

function ofPostgresJs(
  client: PostgresJs,
  onError: OnError,
): PostgresConnection {
  // All columns are text. The client's query for types would end the process if the
  // connection broke meanwhile, because nothing handles its failure.
  Object.assign(client.options ?? {}, { fetch_types: false });
  /** Ends the pending beat. */
  let unlisten: (() => Promise<unknown>) | undefined;
  let isListening = false;
  /** A connection that is being opened can't be closed. */
  let opening: Promise<unknown> = Promise.resolve();
  return {
    connect: () => opening = client.unsafe("SELECT 1").values(),
    query: (text, values) =>
      values === undefined
        ? client.unsafe(text).values()
        : client.unsafe(text, [...values], { prepare: true }).values(),
    listen: (channel, onMessage) =>
      opening = client.listen(channel, onMessage, () => {
        // The client opened another connection, so messages may be missing.
        if (isListening) onError(new Error("the connection was closed"));
        isListening = true;
      }),
    /** LISTEN and UNLISTEN are the only queries that the client sends there. */
    async beat() {
      if (unlisten !== undefined) {
        const end = unlisten;
        unlisten = undefined;
        return await end();
      }
      ({ unlisten } = await client.listen("kit_beat", () => {}));
    },
    async close() {
      // Otherwise end() doesn't wait for the connection that listens.
      const clients = [client, client.listen.sql];
      // While it opens, the client tries again whenever the server closes it.
      for (const each of clients) {
        Object.assign(each?.options ?? {}, { socket: refuse });
      }
      const isOpen = await settlesWithin(opening, CLOSE_TIMEOUT * 1_000);
      const options = { timeout: isOpen ? CLOSE_TIMEOUT : 0 };
      await Promise.all(clients.map((each) => each?.end(options)))
        .catch(() => {});
    },
  };
}
