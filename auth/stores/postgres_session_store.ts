/**
 * Sessions in Postgres. Needs Postgres 12 or later, and `npm:pg` 8 or
 * `npm:postgres` 3.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aBoolean, aFunction } from "../../core/check/rules.ts";
import { keyPart } from "../../core/key_part.ts";
import { createPostgresLink } from "../../core/postgres/link.ts";
import {
  DEFAULT_SCHEMA,
  POSTGRES_POOL_OPTIONS,
  type PostgresPoolOptions,
  sharedNames,
} from "../../core/postgres/options.ts";
import { anIdentifier } from "../../core/postgres/tables.ts";
import { sessionSql } from "./postgres_session_sql.ts";
import {
  readRecord,
  sortRecords,
  timeLeft,
  writeRecord,
} from "./record_text.ts";
import type { SessionRecord, SessionStore } from "./session_store.ts";

export type { JWTPayload } from "../tokens/jwt.ts";
export type { SessionRecord, SessionStore };

/** Settings of a session store in Postgres. */
export interface PostgresSessionStoreOptions extends PostgresPoolOptions {
  /** The table. Default `kit_sessions`. */
  readonly name?: string;
  /**
   * Whether the store listens to notifications of ended sessions. They need a connection of
   * their own, which some poolers don't support. Without them, the plugin asks for
   * the watched sessions twice a second. Default `true`.
   */
  readonly notifications?: boolean;
  /** The clock, in milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<PostgresSessionStoreOptions> = {
  ...POSTGRES_POOL_OPTIONS,
  name: anIdentifier,
  notifications: aBoolean,
  now: aFunction,
};

/** A session store in Postgres. It has every method of a {@linkcode SessionStore}. */
export interface PostgresSessionStore
  extends
    Required<Omit<SessionStore, "onEnded">>,
    Pick<SessionStore, "onEnded">,
    AsyncDisposable {
  /** Closes its connections. */
  close(): Promise<void>;
}

/**
 * Creates a store in Postgres, which any number of processes share. Each method
 * is one statement. While Postgres can't be reached, methods reject with
 * `UnavailableError`, never later than after `timeout`.
 *
 * The store opens connections of its own, at most `maxConnections`, and one more
 * for `onEnded`. Each new session removes up to ten expired ones.
 *
 * @param options The client, the table and the limits.
 * @throws {TypeError} If `connect` doesn't create a client of `npm:pg` or
 * `npm:postgres`, or another option is wrong.
 *
 * @example
 * ```ts
 * import { createAuthPlugin } from "@quartet/kit/auth";
 * import { createPostgresSessionStore } from "@quartet/kit/auth/postgres";
 * import pg from "pg";
 *
 * const url = "postgres://app@127.0.0.1/app";
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createPostgresSessionStore({ connect: () => new pg.Client(url) }),
 *   },
 * });
 *
 * console.assert(auth.name === "auth");
 * ```
 */
export function createPostgresSessionStore(
  options: PostgresSessionStoreOptions,
): PostgresSessionStore {
  const operation = "create session store";
  checkOptions(options, OPTIONS, operation);
  const { schema = DEFAULT_SCHEMA, name = "kit_sessions" } = options;
  const { notifications = true, now = Date.now } = options;
  const sql = sessionSql(schema, name);
  const { channel } = sharedNames("sessions", schema, name);
  const listeners = new Set<Listener>();
  const link = createPostgresLink({
    ...options,
    operation,
    what: "session store",
    tables: sql.tables,
    listen: {
      channel,
      onMessage: (ids) => notify(ids === "" ? undefined : ids.split(" ")),
      onListen: () => notify(undefined),
    },
  });

  function notify(ids: readonly string[] | undefined): void {
    for (const listener of [...listeners]) listener(ids);
  }

  const isValid = (record?: SessionRecord): record is SessionRecord =>
    record !== undefined && record.expiresAt > now();

  function columnsOf(record: SessionRecord): string[] {
    const { id, userId, expiresAt } = record;
    const text = writeRecord(record);
    const left = timeLeft(record, now());
    return [toColumn(id), toColumn(userId), text, `${expiresAt}`, `${left}`];
  }

  /** Drops sessions, and returns how many of them were valid. */
  async function drop(statement: string, text: string): Promise<number> {
    const values = [toColumn(text), channel, `${now()}`];
    const [row] = await link.query(statement, values);
    return Number(row![0]);
  }

  function onEnded(listener: Listener): () => void {
    // The same function may be passed twice.
    const own: Listener = (ids) => listener(ids);
    listeners.add(own);
    link.listen();
    return () => void listeners.delete(own);
  }

  const close = () => link.close();

  return {
    async get(id) {
      const [row] = await link.query(sql.get, [toColumn(id)]);
      const record = readRecord(row?.[0], keyPart(id));
      return isValid(record) ? record : undefined;
    },

    async set(record) {
      await link.query(sql.set, columnsOf(record));
    },

    async touch(record) {
      const last = `${record.refreshedAt}`;
      const values = [...columnsOf(record), `${now()}`, channel, last];
      const rows = await link.query(sql.touch, values);
      return rows.length > 0;
    },

    async delete(id) {
      await drop(sql.delete, id);
    },

    deleteByUser: (userId) => drop(sql.deleteByUser, userId),

    async listByUser(userId) {
      const rows = await link.query(sql.list, [toColumn(userId)]);
      const records = rows.map(([id, text]) => readRecord(text, toPart(id!)));
      return sortRecords(records.filter(isValid));
    },

    ...(notifications && { onEnded }),

    async ping() {
      await link.query("SELECT 1");
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

type Listener = (ids: readonly string[] | undefined) => void;

/** Returns text as Postgres can keep it: without U+0000. */
function toColumn(text: string): string {
  return keyPart(text).replaceAll("\\", "\\\\").replaceAll("\0", "\\0");
}

/** Returns the `keyPart()` that a column holds. */
function toPart(column: string): string {
  return column.replace(/\\(.)/g, (_, char) => char === "0" ? "\0" : char);
}
