/**
 * Channels and rate limits in Postgres, shared by all machines. They need Postgres
 * 12 or later, and `npm:pg` 8 or `npm:postgres` 3.
 *
 * @example A subscription to a channel, and a rate limit
 * ```ts
 * import { createRouter, procedure, rateLimit } from "@quartet/kit/rpc";
 * import {
 *   createPostgresChannel,
 *   createPostgresRateLimitStore,
 * } from "@quartet/kit/rpc/postgres";
 * import postgres from "postgres";
 * import { z } from "zod";
 *
 * // Called for each connection. Nothing connects before the first call.
 * const connect = () => postgres("postgres://app@127.0.0.1/app", { max: 1 });
 * await using messages = createPostgresChannel<string>({
 *   connect,
 *   name: "messages",
 * });
 * await using store = createPostgresRateLimitStore({ connect });
 *
 * const limited = procedure.use(
 *   rateLimit({ limit: 10, windowMs: 60_000, store, name: "messages" }),
 * );
 * const router = createRouter({
 *   send: limited.mutation(z.string(), async ({ input }) => {
 *     await messages.publish(input);
 *   }),
 *   // A client that reconnects continues after the last message it has seen.
 *   received: procedure.subscription(({ signal, lastEventId }) =>
 *     messages.subscribe(signal, { lastEventId })
 *   ),
 * });
 * console.assert(router._def.send.kind === "mutation");
 * ```
 *
 * @module
 */

export * from "./channel/postgres_channel.ts";
export * from "../core/limits/postgres_rate_limit_store.ts";
