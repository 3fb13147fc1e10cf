/**
 * Rate limits in Postgres. Each step is one call of a function. Windows begin and
 * end by the clock of Postgres, which is the same for all processes.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../check/options.ts";
import { keyHash } from "../key_part.ts";
import { createPostgresLink } from "../postgres/link.ts";
import {
  DEFAULT_SCHEMA,
  POSTGRES_POOL_OPTIONS,
  type PostgresOptions,
  type PostgresPoolOptions,
} from "../postgres/options.ts";
import { anIdentifier } from "../postgres/tables.ts";
import { limitTables } from "./postgres_limit_tables.ts";
import type {
  RateLimitResult,
  RateLimitSettlement,
  RateLimitStore,
} from "./rate_limit_store.ts";

export type * from "./rate_limit_store.ts";
export type {
  PgClient,
  PostgresClient,
  PostgresJsClient,
} from "../postgres/client.ts";
export type { PostgresOptions, PostgresPoolOptions };

/** Options of {@linkcode createPostgresRateLimitStore}. */
export interface PostgresRateLimitStoreOptions extends PostgresPoolOptions {
  /**
   * The table. Processes with the same one share their limits. Default
   * `kit_limits`.
   */
  readonly name?: string;
}

const OPTIONS: OptionRules<PostgresRateLimitStoreOptions> = {
  ...POSTGRES_POOL_OPTIONS,
  name: anIdentifier,
};

/** A store in Postgres. It holds a connection from its first use on. */
export interface PostgresRateLimitStore
  extends RateLimitStore, AsyncDisposable {
  /** Closes the connections. Later events can't be counted. */
  close(): Promise<void>;
}

/**
 * Creates a store of rate limits in Postgres, for `rateLimit()` and
 * `rateLimitSignIn()`. One store serves any number of limits with different
 * names. Each call takes one round trip.
 *
 * Keys are hashed, so that Postgres doesn't hold e-mail addresses as text. The
 * table is unlogged: counting doesn't wait for the disk, and limits start over
 * after Postgres has crashed. Each event removes up to three expired windows.
 *
 * @param options The client, the table and the limits.
 * @throws {TypeError} If `connect` doesn't create a client of `npm:pg` or
 * `npm:postgres`, or another option is wrong.
 *
 * @example
 * ```ts
 * import { procedure, rateLimit } from "@quartet/kit/rpc";
 * import { createPostgresRateLimitStore } from "@quartet/kit/rpc/postgres";
 * import pg from "pg";
 *
 * const url = "postgres://app@127.0.0.1/app";
 * await using store = createPostgresRateLimitStore({
 *   connect: () => new pg.Client(url),
 * });
 *
 * const limited = procedure.use(
 *   rateLimit({ limit: 100, windowMs: 60_000, store, name: "search" }),
 * );
 * console.assert(limited.query(() => "found").kind === "query");
 * ```
 */
export function createPostgresRateLimitStore(
  options: PostgresRateLimitStoreOptions,
): PostgresRateLimitStore {
  const operation = "create rate limit store";
  checkOptions(options, OPTIONS, operation);
  const { schema = DEFAULT_SCHEMA, name = "kit_limits" } = options;
  const link = createPostgresLink({
    ...options,
    operation,
    what: "rate limit store",
    tables: limitTables(schema, name),
  });
  const prefix = `${schema}.${name}`;
  const take =
    `SELECT ${prefix}_take($1::text::text[], $2::text::float8[], $3::text::float8[], $4::text::text[])::text`;
  const settle =
    `SELECT ${prefix}_settle($1::text::text[], $2::text::float8[], $3::text, $4::text, $5::text::float8)::text`;
  const close = () => link.close();

  return {
    async take(keys): Promise<RateLimitResult> {
      const [row] = await link.query(take, [
        toArray(keys.map(({ rule, key }) => keyOf(rule.name, key))),
        toArray(keys.map(({ rule }) => rule.max)),
        toArray(keys.map(({ rule }) => rule.windowMs)),
        toArray(
          keys.map(({ unless }) => unless === undefined ? "" : markOf(unless)),
        ),
      ]);
      // The clock may have moved back since a window began.
      const longest = Math.max(...keys.map(({ rule }) => rule.windowMs));
      const [wait, ...ends] = row![0]!.slice(1, -1).split(",").map(Number);
      return {
        wait: Math.min(wait!, longest),
        windows: ends.map((end) => end === 0 ? undefined : end),
      };
    },

    async settle({ keys, windows, clear, mark }: RateLimitSettlement) {
      const counted = keys.filter((_, i) => windows[i] !== undefined);
      await link.query(settle, [
        toArray(counted.map(({ rule, key }) => keyOf(rule.name, key))),
        toArray(windows.filter((window) => window !== undefined)),
        clear === undefined ? null : keyOf(clear.rule.name, clear.key),
        mark === undefined ? null : markOf(mark.name),
        `${mark?.ms ?? 0}`,
      ]);
    },

    close,
    [Symbol.asyncDispose]: close,
  };
}

function keyOf(rule: string, key: string): string {
  return keyHash(JSON.stringify([rule, key]));
}

function markOf(name: string): string {
  return keyHash(JSON.stringify([name]));
}

/** Returns an array as Postgres reads it. The values need no escapes. */
function toArray(values: readonly unknown[]): string {
  return `{${values.map((value) => `"${value}"`).join(",")}}`;
}
