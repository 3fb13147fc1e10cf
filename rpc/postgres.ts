/**
 * Channels and rate limits in Postgres. Needs Postgres 12 or later, and `npm:pg`
 * 8 or `npm:postgres` 3.
 *
 * @module
 */

export * from "./channel/postgres_channel.ts";
