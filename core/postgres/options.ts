import { nodeCrypto } from "../runtime/environment.ts";
import type { OptionRules } from "../check/options.ts";
import {
  aFunction,
  aPositiveInteger,
  aTimeout,
  required,
} from "../check/rules.ts";
import type { PostgresClient } from "./client.ts";
import { anIdentifier } from "./tables.ts";

/** Settings of all stores in Postgres. */
export interface PostgresOptions {
  /**
   * Creates a client: `() => new pg.Client(url)` or
   * `() => postgres(url, { max: 1 })`. Called for each connection.
   */
  readonly connect: () => PostgresClient;
  /**
   * The schema of the tables. Both are created if they don't exist. Default:
   * `public`.
   */
  readonly schema?: string;
  /**
   * How long to wait for a connection or an answer, in seconds. Default: 1.
   */
  readonly timeout?: number;
  /**
   * Called once per outage, with an `UnavailableError`. Default: `console.error`.
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

/** Settings of stores with several connections. */
export interface PostgresPoolOptions extends PostgresOptions {
  /**
   * Maximum connections for queries. Each opens when all others are busy. Default: 4.
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

/** Names in a database that processes share. */
interface SharedNames {
  /** The channel of notifications. */
  readonly channel: string;
  /** The key of the advisory lock, as text. */
  readonly lock: string;
}

/** Returns the names for a table, or for a part of it. */
export function sharedNames(...names: readonly string[]): SharedNames {
  const hash = nodeCrypto().createHash("sha256").update(JSON.stringify(names))
    .digest();
  return {
    channel: `kit_${hash.toString("hex", 0, 16)}`,
    lock: `${hash.readBigInt64BE(16)}`,
  };
}
