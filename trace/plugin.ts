import type { Context } from "../app/context.ts";
import { errorResponse } from "../app/error_response.ts";
import type { Middleware } from "../app/middleware.ts";
import { pathOf } from "../app/path.ts";
import type { Plugin } from "../app/plugin.ts";
import type { Authorize } from "./access.ts";
import { createCollector } from "./collector.ts";
import { traceMiddleware } from "./middleware.ts";
import type { TraceMiddlewareOptions } from "./middleware_options.ts";
import { createTracesAPIHandler } from "./stream/api.ts";
import { createTraceWebSocket } from "./stream/websocket.ts";
import type { Tracer } from "./types.ts";
import { createViewerHandler } from "./viewer.ts";

/** Settings of the trace plugin. */
export interface TracePluginOptions extends TraceMiddlewareOptions {
  /** Decides who may see the traces. Default: requests from this machine. */
  readonly authorize?: Authorize;
}

const PREFIX = "/__app/traces";

/**
 * Makes the plugin that traces an app's requests and shows them: the viewer at
 * `/__app/traces`, with its API at `/__app/traces/api` and its live stream at
 * `/__app/traces/ws`.
 *
 * @param tracer Keeps the traces.
 * @param options What to trace, and who may look.
 * @throws {TypeError} If an option is of the wrong kind.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createTracer, tracePlugin } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * const app = createApp({
 *   trace: tracePlugin(tracer),
 *   routes: [{ path: "/", handler: () => new Response("hello") }],
 * });
 * await app.fetch(new Request("http://localhost/"));
 * console.assert(tracer.getTraces().length === 1);
 * await app.close();
 * ```
 */
export function tracePlugin(
  tracer: Tracer,
  options: TracePluginOptions = {},
): Plugin {
  const { authorize } = options;
  const access = authorize === undefined ? {} : { authorize };
  const collector = createCollector(tracer);
  const api = createTracesAPIHandler(tracer, { ...access, collector });
  const viewer = createViewerHandler(access);
  const stream = createTraceWebSocket(tracer, { ...access, collector });

  const endpoints: Middleware<Context> = (request, context, next) => {
    const path = pathOf(request.url);
    if (!path.startsWith(PREFIX)) return next();
    switch (path.slice(PREFIX.length)) {
      case "":
      case "/":
        return viewer(request, context.info);
      case "/api":
        return api(request, context.info);
      case "/ws":
        return stream.upgrade(request, context.info);
      default:
        return path.startsWith(`${PREFIX}/`)
          ? errorResponse(404, "NOT_FOUND", "There is nothing at this path")
          : next();
    }
  };

  return {
    name: "trace",
    middleware: [
      Object.assign(endpoints, { outermost: true }),
      traceMiddleware(tracer, options),
    ],
    close: () => stream.close(),
  };
}
