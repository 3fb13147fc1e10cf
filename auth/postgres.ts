/**
 * Postgres stores for auth: sessions and counts of failed sign-ins, shared by all
 * machines. They need Postgres 12 or later, and `npm:pg` 8 or `npm:postgres` 3.
 *
 * @example Sessions and sign-in limits in Postgres
 * ```ts
 * import { createAuthPlugin, rateLimitSignIn } from "@quartet/kit/auth";
 * import {
 *   createPostgresRateLimitStore,
 *   createPostgresSessionStore,
 * } from "@quartet/kit/auth/postgres";
 * import pg from "pg";
 *
 * // Called for each connection. Nothing connects before the first request.
 * const connect = () => new pg.Client("postgres://app@127.0.0.1/app");
 *
 * await using limits = createPostgresRateLimitStore({ connect });
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createPostgresSessionStore({ connect }),
 *   },
 *   signInLimiter: rateLimitSignIn({ store: limits, name: "sign-in" }),
 * });
 * console.assert(auth.name === "auth");
 * ```
 *
 * @module
 */

export * from "./stores/postgres_session_store.ts";
export * from "../core/limits/postgres_rate_limit_store.ts";
