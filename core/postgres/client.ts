import { kindOf, type Rule } from "../check/rules.ts";

/** A client of `npm:pg`, as `new pg.Client()` creates it. */
export interface PgClient {
  /** Opens the connection. */
  readonly connect: (...args: never[]) => unknown;
  /** Runs a query. */
  readonly query: (...args: never[]) => unknown;
  /** Listens to events. */
  readonly on: (...args: never[]) => unknown;
  /** Closes the connection. */
  readonly end: (...args: never[]) => unknown;
  /** Quotes a name. A pool, which isn't supported, lacks it. */
  readonly escapeIdentifier: (...args: never[]) => unknown;
}

/** A client of `npm:postgres`, as `postgres()` creates it. */
export interface PostgresJsClient {
  /** Runs a query. */
  readonly unsafe: (...args: never[]) => unknown;
  /** Listens to notifications. */
  readonly listen: (...args: never[]) => unknown;
  /** Closes the connections. */
  readonly end: (...args: never[]) => unknown;
}

/** A client of `npm:pg` or `npm:postgres` that isn't connected yet. */
export type PostgresClient = PgClient | PostgresJsClient;

const METHODS = {
  pg: ["connect", "query", "on", "end", "escapeIdentifier"],
  postgres: ["unsafe", "listen", "end"],
} as const;

/** Returns the driver of a client, or `undefined` if it isn't supported. */
export function driverOf(client: unknown): keyof typeof METHODS | undefined {
  const found = Object(client) as Record<string, unknown>;
  const has = (name: string) => typeof found[name] === "function";
  if (METHODS.pg.every(has)) return "pg";
  return METHODS.postgres.every(has) ? "postgres" : undefined;
}

/**
 * A result of `connect()`. Errors never show it, because a client's settings may
 * hold a password.
 */
export const aPostgresClient: Rule = {
  expected:
    "a new client of npm:pg or npm:postgres, as in () => new pg.Client(url) or () => postgres(url, { max: 1 })",
  test: (value) => driverOf(value) !== undefined,
  describe(value) {
    const isPool = typeof Object(value).totalCount === "number";
    return isPool ? "a pool" : kindOf(value);
  },
};
