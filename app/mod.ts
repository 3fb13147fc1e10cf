/**
 * The host: routes, middleware, plugins, WebSockets and a graceful shutdown, on
 * top of `Deno.serve`. Adapters add the kit's modules to Hono, Oak and other
 * servers, and run an app on Node and Bun.
 *
 * @example A server with a route
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 *
 * const app = createApp();
 * app.route({
 *   path: "/posts/:id",
 *   // The host sends a loader's result as JSON.
 *   loader: ({ params }) => ({ id: params.id }),
 * });
 * const server = await app.serve({ port: 0 });
 *
 * const response = await fetch(`http://127.0.0.1:${server.address.port}/posts/7`);
 * console.assert((await response.json()).id === "7");
 *
 * await server.shutdown();
 * ```
 *
 * @module
 */

export { createApp } from "./host.ts";
export type { App, AppOptions } from "./app.ts";
export type { Fetcher } from "./fetcher.ts";
export * from "./serve.ts";

export * from "./health.ts";

// On other servers.
export * from "./adapters/to_bun.ts";
export * from "./adapters/to_hono.ts";
export * from "./adapters/to_middleware.ts";
export { toNode } from "./adapters/to_node.ts";
export type { NodeHost, NodeHostOptions } from "./adapters/to_node.ts";
export * from "./adapters/with_plugins.ts";
export type { Mountable } from "./adapters/mount.ts";

// Routes, middlewares and plugins.
export type { Handler, Middleware, Next } from "../core/middleware.ts";
export type { HealthCheck, Plugin, PluginHost } from "../core/plugin.ts";
export type * from "../core/route.ts";
export { createGuard } from "../core/guard_fragment.ts";
export { errorResponse, UnavailableError } from "../core/error_response.ts";

// The request.
export * from "../core/context.ts";
export { currentContext } from "../core/request_scope.ts";

// Spans.
export { observe } from "../core/observe.ts";
export type {
  Attributes,
  AttributeValue,
  Layer,
  ObservedSpan,
} from "../core/observed_span.ts";

// WebSockets.
export * from "../core/socket/websocket.ts";
