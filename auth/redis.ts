/**
 * Redis stores for auth: sessions and counts of failed sign-ins, shared by all
 * machines. They work with `npm:redis` and `npm:ioredis`.
 *
 * @example Sessions and sign-in limits in Redis
 * ```ts
 * import { createAuthPlugin, rateLimitSignIn } from "@quartet/kit/auth";
 * import {
 *   createRedisRateLimitStore,
 *   createRedisSessionStore,
 * } from "@quartet/kit/auth/redis";
 * import { createClient } from "redis";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 *
 * await using limits = createRedisRateLimitStore({ client, name: "shop" });
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createRedisSessionStore({ client, name: "shop" }),
 *   },
 *   signInLimiter: rateLimitSignIn({ store: limits, name: "sign-in" }),
 * });
 * console.assert(auth.name === "auth");
 * ```
 *
 * @module
 */

export * from "./stores/redis_session_store.ts";
export * from "../core/limits/redis_rate_limit_store.ts";
