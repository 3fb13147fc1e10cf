/**
 * Deno KV stores for auth: sessions and counts of failed sign-ins, shared by all
 * processes that open the same database. `Deno.openKv()` needs
 * `"unstable": ["kv"]` in your `deno.json`, or the flag `--unstable-kv`.
 *
 * @example Sessions and sign-in limits in Deno KV
 * ```ts
 * import { createAuthPlugin, rateLimitSignIn } from "@quartet/kit/auth";
 * import {
 *   createKvRateLimitStore,
 *   createKvSessionStore,
 * } from "@quartet/kit/auth/kv";
 *
 * // In production: a path, or nothing on Deno Deploy.
 * using kv = await Deno.openKv(":memory:");
 * const limits = createKvRateLimitStore({ kv, name: "shop" });
 * const auth = createAuthPlugin({
 *   session: {
 *     secret: "a secret of at least thirty-two bytes",
 *     strategy: "hybrid",
 *     store: createKvSessionStore({ kv }),
 *   },
 *   signInLimiter: rateLimitSignIn({ store: limits, name: "sign-in" }),
 * });
 *
 * // The number of sessions that ended.
 * console.assert(await auth.revokeSessions("ada") === 0);
 * ```
 *
 * @module
 */

export * from "./stores/kv_session_store.ts";
export * from "../core/limits/kv_rate_limit_store.ts";
