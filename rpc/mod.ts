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

export { createCaller } from "./caller.ts";
export type {
  Caller,
  CallerOptions,
  DirectCallOptions,
  DirectSubscribeOptions,
} from "./caller.ts";
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
} from "./calls.ts";
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
} from "./infer.ts";
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
export { rpcPlugin } from "./plugin.ts";
export type { RPCPlugin, RPCPluginOptions, UpgradeServer } from "./plugin.ts";
export { procedure } from "./procedure.ts";
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
} from "./procedure.ts";
export type {
  BatchMessage,
  CallMessage,
  ClientMessage,
  Envelope,
  ServerMessage,
} from "./protocol.ts";
export { rateLimit } from "./rate_limit.ts";
export type { RateLimitOptions } from "./rate_limit.ts";
export type { ErrorReport } from "./report.ts";
export { createRouter } from "./router.ts";
export type {
  AnyProcedure,
  AnyRouter,
  Router,
  RouterDef,
  RouterOptions,
  Wire,
} from "./router.ts";
export type {
  ParseSchema,
  Schema,
  SchemaInput,
  SchemaOutput,
  SchemaResult,
  StandardSchema,
  ValidationDetails,
  ValidationIssue,
} from "./schema.ts";
export { Tracked, tracked } from "./tracked.ts";
export type { Transformer } from "./transformer.ts";
export type { WSConnectionData } from "./connection.ts";
export type { SocketMessage } from "./message_text.ts";
export type { RouterWebSocketHandler } from "./websocket.ts";
