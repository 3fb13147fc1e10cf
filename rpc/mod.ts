/**
 * Typed RPC: queries and mutations over HTTP, subscriptions over one WebSocket.
 * The client infers its types from the router, without code generation. Input
 * schemas come from zod or any other Standard Schema library.
 *
 * @example A router, its server and its client
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
 * import { createClient } from "@quartet/kit/rpc/client";
 * import { z } from "zod";
 *
 * const router = createRouter({
 *   greet: procedure.query(
 *     z.object({ name: z.string() }),
 *     ({ input }) => `hello ${input.name}`,
 *   ),
 *   countTo: procedure.subscription(z.number(), async function* ({ input }) {
 *     for (let i = 1; i <= input; i++) yield i;
 *   }),
 * });
 * const app = createApp({ plugins: [rpcPlugin({ router })] });
 * const server = await app.serve({ port: 0 });
 *
 * // In a page, `httpEndpoint: "/api/rpc"` is enough.
 * const rpc = createClient<typeof router>({
 *   httpEndpoint: `http://127.0.0.1:${server.address.port}/api/rpc`,
 * });
 * console.assert(await rpc.greet.query({ name: "ada" }) === "hello ada");
 * for await (const i of rpc.countTo.subscribe(3)) console.log(i);
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

// Procedures
export * from "./procedure/procedure.ts";
export type {
  ParseSchema,
  Schema,
  SchemaInput,
  SchemaOutput,
  SchemaResult,
  StandardSchema,
} from "./procedure/schema.ts";
export type {
  ValidationDetails,
  ValidationIssue,
} from "./procedure/validate.ts";
export { rateLimit, type RateLimitOptions } from "./procedure/rate_limit.ts";
export type {
  RateLimitFallback,
  SharedRateLimitOptions,
} from "../core/limits/rate_limit_options.ts";
export type * from "../core/limits/rate_limit_store.ts";
export { Tracked, tracked } from "./procedure/tracked.ts";

// Errors
export { errors, RPCError } from "./error.ts";
export type { RPCErrorCode, RPCErrorOptions, RPCFailure } from "./error.ts";

// Routers
export { createRouter } from "./server/router.ts";
export type { Router, RouterDef, RouterOptions } from "./server/router.ts";
export type { ErrorReport } from "./server/report.ts";
export * from "./server/plugin.ts";
export type { WSConnectionData } from "./socket/connection.ts";
export type { SocketMessage } from "./socket/message_text.ts";
export type { RouterWebSocketHandler } from "./socket/websocket.ts";
export type * from "./protocol.ts";

// Calls
export * from "./server/caller.ts";
export type * from "./procedure/calls.ts";
export type { Jsonify, JSONValue } from "./json.ts";

// Channels
export { createChannel } from "./channel/channel.ts";
export type {
  Channel,
  ChannelOptions,
  ChannelSubscribeOptions,
} from "./channel/channel.ts";

// OpenAPI
export * from "./openapi/openapi.ts";
export type * from "./openapi/openapi_document.ts";
export type { JSONSchema, ToJSONSchema } from "./openapi/json_schema.ts";
