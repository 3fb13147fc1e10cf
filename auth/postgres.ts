/**
 * Sessions and limits of sign-ins that several machines share, in Postgres. Needs
 * Postgres 12 or later, and `npm:pg` 8 or `npm:postgres` 3.
 *
 * @module
 */

export * from "./stores/postgres_session_store.ts";
export {
  createPostgresRateLimitStore,
  type PostgresRateLimitStore,
  type PostgresRateLimitStoreOptions,
} from "../core/limits/postgres_rate_limit_store.ts";
export type {
  RateLimitKey,
  RateLimitResult,
  RateLimitRule,
  RateLimitSettlement,
  RateLimitStore,
  RateLimitWindow,
} from "../core/limits/rate_limit_store.ts";
export type {
  PgClient,
  PostgresClient,
  PostgresJsClient,
} from "../core/postgres/client.ts";
export type {
  PostgresOptions,
  PostgresPoolOptions,
} from "../core/postgres/options.ts";
