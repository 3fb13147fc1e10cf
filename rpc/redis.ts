/**
 * Channels and rate limits in Redis, shared by all machines. They work with
 * `npm:redis` and `npm:ioredis`.
 *
 * @example A subscription to a channel, and a rate limit
 * ```ts
 * import { createRouter, procedure, rateLimit } from "@quartet/kit/rpc";
 * import {
 *   createRedisChannel,
 *   createRedisRateLimitStore,
 * } from "@quartet/kit/rpc/redis";
 * import { createClient } from "redis";
 * import { z } from "zod";
 *
 * const client = createClient({ url: "redis://127.0.0.1:6379" });
 * await using messages = createRedisChannel<string>({ client, name: "messages" });
 * await using store = createRedisRateLimitStore({ client, name: "shop" });
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

export * from "./channel/redis_channel.ts";
export * from "../core/limits/redis_rate_limit_store.ts";
