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

export { createCaller } from "./server/caller.ts";
export type {
  Caller,
  CallerOptions,
  DirectCallOptions,
  DirectSubscribeOptions,
} from "./server/caller.ts";
export type {
  CallableProcedure,
  CallFunction,
  CallOf,
  Calls,
  CallsOf,
  Delivered,
  Delivery,
  inferInput,
  inferOutput,
  MutationCalls,
  OptionalCallFunction,
  OptionalSubscribeFunction,
  QueryCalls,
  SubscribeFunction,
  SubscriptionCalls,
  SubscriptionHandlers,
} from "./procedure/calls.ts";
export { createChannel } from "./channel/channel.ts";
export type {
  Channel,
  ChannelOptions,
  ChannelSubscribeOptions,
} from "./channel/channel.ts";
export { errors, RPCError } from "./error.ts";
export type { RPCErrorCode, RPCErrorOptions, RPCFailure } from "./error.ts";
export type {
  AsRouter,
  DefOutputs,
  inferRouterInputs,
  inferRouterOutputs,
} from "./procedure/infer.ts";
export type * from "./json.ts";
export type {
  JSONSchema,
  SchemaDirection,
  ToJSONSchema,
} from "./openapi/json_schema.ts";
export { createOpenAPIDocument } from "./openapi/openapi.ts";
export type { OpenAPIOptions } from "./openapi/openapi.ts";
export type {
  OpenAPIComponents,
  OpenAPIContent,
  OpenAPIDocument,
  OpenAPIInfo,
  OpenAPIOperation,
  OpenAPIParameter,
  OpenAPIPathItem,
  OpenAPIReference,
  OpenAPIRequestBody,
  OpenAPIResponse,
  OpenAPIServer,
  OpenAPITag,
} from "./openapi/openapi_document.ts";
export { rpcPlugin } from "./server/plugin.ts";
export type {
  RPCPlugin,
  RPCPluginOptions,
  UpgradeServer,
} from "./server/plugin.ts";
export { procedure } from "./procedure/procedure.ts";
export type {
  AddedFields,
  CallInfo,
  HandlerArgs,
  MaybePromise,
  Merge,
  MiddlewareArgs,
  NextResult,
  NoFields,
  OutputProcedureBuilder,
  Procedure,
  ProcedureBuilder,
  ProcedureKind,
  ProcedureMiddleware,
  Stream,
  SubscriptionArgs,
  Untracked,
} from "./procedure/procedure.ts";
export type {
  BatchMessage,
  CallMessage,
  ClientMessage,
  Envelope,
  ServerMessage,
} from "./protocol.ts";
export { rateLimit } from "./procedure/rate_limit.ts";
export type { RateLimitOptions } from "./procedure/rate_limit.ts";
export type { ErrorReport } from "./server/report.ts";
export { createRouter } from "./server/router.ts";
export type {
  AnyProcedure,
  AnyRouter,
  Router,
  RouterDef,
  RouterOptions,
  Wire,
} from "./server/router.ts";
export type {
  ParseSchema,
  Schema,
  SchemaInput,
  SchemaOutput,
  SchemaResult,
  StandardSchema,
  ValidationDetails,
  ValidationIssue,
} from "./procedure/schema.ts";
export { Tracked, tracked } from "./procedure/tracked.ts";
export type { Transformer } from "./transformer.ts";
export type { WSConnectionData } from "./socket/connection.ts";
export type { SocketMessage } from "./socket/message_text.ts";
export type { RouterWebSocketHandler } from "./socket/websocket.ts";
