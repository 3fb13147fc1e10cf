/**
 * Typed RPC: queries and mutations over HTTP, subscriptions over WebSocket,
 * and a client whose types come from the router.
 *
 * @example
 * ```ts
 * import { createCaller, createRouter, procedure } from "@quartet/kit/rpc";
 * import { z } from "zod";
 *
 * const api = createRouter({
 *   greet: procedure.query(
 *     z.object({ name: z.string() }),
 *     ({ input }) => `hello ${input.name}`,
 *   ),
 * });
 *
 * const caller = createCaller(api);
 * console.assert(await caller.greet.query({ name: "ada" }) === "hello ada");
 * ```
 *
 * @module
 */

// Procedures
export { procedure } from "./procedure/procedure.ts";
export type {
  CallInfo,
  DefineProcedure,
  HandlerArgs,
  MiddlewareArgs,
  NextResult,
  Procedure,
  ProcedureBuilder,
  ProcedureKind,
  ProcedureMiddleware,
  SubscriptionArgs,
} from "./procedure/procedure.ts";
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
} from "../core/limits/limit_counter.ts";
export type {
  RateLimitKey,
  RateLimitResult,
  RateLimitRule,
  RateLimitSettlement,
  RateLimitStore,
  RateLimitWindow,
} from "../core/limits/rate_limit_store.ts";
export { Tracked, tracked } from "./procedure/tracked.ts";

// Errors
export { errors, RPCError } from "./error.ts";
export type { RPCErrorCode, RPCErrorOptions, RPCFailure } from "./error.ts";

// Routers
export { createRouter } from "./server/router.ts";
export type { Router, RouterDef, RouterOptions } from "./server/router.ts";
export type { ErrorReport } from "./server/report.ts";
export { rpcPlugin } from "./server/plugin.ts";
export type {
  RPCPlugin,
  RPCPluginOptions,
  UpgradeServer,
} from "./server/plugin.ts";
export type { WSConnectionData } from "./socket/connection.ts";
export type { SocketMessage } from "./socket/message_text.ts";
export type { RouterWebSocketHandler } from "./socket/websocket.ts";
export type {
  BatchMessage,
  CallMessage,
  ClientMessage,
  Envelope,
  ServerMessage,
  Transformer,
} from "./protocol.ts";

// Calls
export { createCaller } from "./server/caller.ts";
export type {
  Caller,
  CallerOptions,
  DirectCallOptions,
  DirectSubscribeOptions,
} from "./server/caller.ts";
export type {
  CallFunction,
  Calls,
  inferInput,
  inferOutput,
  inferRouterInputs,
  inferRouterOutputs,
  SubscribeFunction,
  SubscriptionHandlers,
} from "./procedure/calls.ts";
export type { Jsonify, JSONValue } from "./json.ts";

// Channels
export { createChannel } from "./channel/channel.ts";
export type {
  Channel,
  ChannelOptions,
  ChannelSubscribeOptions,
} from "./channel/channel.ts";

// OpenAPI
export { createOpenAPIDocument } from "./openapi/openapi.ts";
export type { OpenAPIOptions } from "./openapi/openapi.ts";
export type {
  OpenAPIDocument,
  OpenAPIOperation,
} from "./openapi/openapi_document.ts";
export type { JSONSchema, ToJSONSchema } from "./openapi/json_schema.ts";
