import { nodeCrypto } from "../runtime/node_builtins.ts";
import type { OptionRules } from "../check/check_options.ts";
import {
  aFunction,
  aPositiveInteger,
  aTimeout,
  required,
} from "../check/rules.ts";
import type { PostgresClient } from "./client.ts";
import { anIdentifier } from "./tables.ts";

/** Settings that all stores in Postgres have. */
export interface PostgresOptions {
  /**
   * Creates a client: `() => new pg.Client(url)` or
   * `() => postgres(url, { max: 1 })`. Called for each connection.
   */
  readonly connect: () => PostgresClient;
  /**
   * The schema of the tables. Both are created if they don't exist. Default
   * `public`.
   */
  readonly schema?: string;
  /**
   * How long to wait for a connection or an answer, in seconds. Default 1.
   */
  readonly timeout?: number;
  /**
   * Called once for each outage, with an `UnavailableError`. Default:
   * `console.error`.
   */
  readonly onError?: (error: Error) => unknown;
}

/** The rules of {@linkcode PostgresOptions}. */
export const POSTGRES_OPTIONS: OptionRules<PostgresOptions> = {
  connect: required(aFunction),
  schema: anIdentifier,
  timeout: aTimeout("seconds"),
  onError: aFunction,
};

/** The number of connections of stores that many requests share. */
export interface PostgresPoolOptions extends PostgresOptions {
  /**
   * Maximum connections for queries. They open when all others are busy.
   * Default 4.
   */
  readonly maxConnections?: number;
}

/** The rules of {@linkcode PostgresPoolOptions}. */
export const POSTGRES_POOL_OPTIONS: OptionRules<PostgresPoolOptions> = {
  ...POSTGRES_OPTIONS,
  maxConnections: aPositiveInteger,
};

/** Default of `schema`. */
export const DEFAULT_SCHEMA = "public";
/** Default of `maxConnections`. */
export const DEFAULT_MAX_CONNECTIONS = 4;
/** Default of `timeout`, in seconds. */
export const DEFAULT_TIMEOUT = 1;

/** Names that processes share in a database. */
export interface MeetingPoint {
  /** The channel of notifications. */
  readonly channel: string;
  /** The key of the advisory lock, as text. */
  readonly lock: string;
}

/** Returns the names that belong to this table, or this part of a table. */
export function meetingPoint(...names: readonly string[]): MeetingPoint {
  const hash = nodeCrypto().createHash("sha256").update(JSON.stringify(names))
    .digest();
  return {
    channel: `kit_${hash.toString("hex", 0, 16)}`,
    lock: `${hash.readBigInt64BE(16)}`,
  };
}
