/**
 * The host: the small server that the modules of the kit mount on, and the
 * request scope that they share.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 *
 * const app = createApp();
 * app.route({ path: "/", handler: () => new Response("hello") });
 *
 * const response = await app.fetch(new Request("http://localhost/"));
 * console.assert(await response.text() === "hello");
 * ```
 *
 * @module
 */

export type { Mountable } from "./adapters/mountable.ts";
export type {
  NodeBindings,
  NodeDuplex,
  NodeIncoming,
  NodeOutgoing,
  NodeSocket,
  NodeSocketServer,
} from "./adapters/node.ts";
export { toBun } from "./adapters/to_bun.ts";
export type {
  BunHost,
  BunServer,
  BunSocket,
  BunSocketData,
} from "./adapters/to_bun.ts";
export { toHono } from "./adapters/to_hono.ts";
export type { HonoContext, HonoMiddleware } from "./adapters/to_hono.ts";
export { toMiddleware } from "./adapters/to_middleware.ts";
export type { WebMiddleware } from "./adapters/to_middleware.ts";
export { toNode } from "./adapters/to_node.ts";
export type { NodeHost, NodeHostOptions } from "./adapters/to_node.ts";
export { withPlugins } from "./adapters/with_plugins.ts";
export type {
  FetchHandler,
  FetchHost,
  FetchHostOptions,
} from "./adapters/with_plugins.ts";
export type { App } from "./app.ts";
export { Context } from "../core/context.ts";
export type {
  Address,
  ConnectionInfo,
  ContextValues,
  NetAddress,
  Params,
  RequestContext,
  UnixAddress,
  VsockAddress,
} from "../core/context.ts";
export { createApp } from "./host.ts";
export { errorResponse } from "../core/error_response.ts";
export type { Fetcher } from "./fetcher.ts";
export { createGuard } from "../core/guard_fragment.ts";
export { healthPlugin } from "./health.ts";
export type { HealthCheck, HealthOptions } from "./health.ts";
export type { AppOptions } from "./app.ts";
export { compose } from "../core/middleware.ts";
export type { Handler, Middleware, Next } from "../core/middleware.ts";
export { pathOf } from "../core/path.ts";
export type { Plugin, PluginHost } from "../core/plugin.ts";
export type {
  AuthFragment,
  AuthRule,
  Route,
  RouteArgs,
  RouteConfig,
} from "../core/route.ts";
export { observe, runSpan } from "../core/observe.ts";
export {
  currentContext,
  currentScope,
  enterScope,
  RequestScope,
  runInScope,
} from "../core/request_scope.ts";
export type {
  Attributes,
  AttributeValue,
  Layer,
  ObservedSpan,
  SpanOpener,
} from "../core/observed_span.ts";
export { serve } from "./serve.ts";
export type { ServeOptions, Server } from "./serve.ts";
export { createUpgrader } from "../core/socket/websocket.ts";
export type {
  ServerWebSocket,
  UpgradeOptions,
  Upgrader,
  UpgraderOptions,
  WebSocketHandler,
} from "../core/socket/websocket.ts";
