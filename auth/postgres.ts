/**
 * Sessions and rate limits in Postgres. Needs Postgres 12 or later, and `npm:pg`
 * 8 or `npm:postgres` 3.
 *
 * @module
 */

export * from "./stores/postgres_session_store.ts";
