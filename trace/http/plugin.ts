import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aFunction, aLimit } from "../../core/check/rules.ts";
import type { Context } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import type { MaybePromise } from "../../core/promises.ts";
import {
  acceptDirect,
  type DirectNext,
  refuseUncalled,
} from "../../core/middleware.ts";
import { pathOf } from "../../core/http/message.ts";
import type { Plugin } from "../../core/plugin.ts";
import {
  createOTLPReceiver,
  createTracesAPIHandler,
} from "../live/handlers.ts";
import { createTraceWebSocket } from "../live/websocket.ts";
import { createCollector } from "../record/collector.ts";
import { checkTracer } from "../record/tracer_options.ts";
import type { Tracer } from "../types.ts";
import {
  answer,
  type Authorize,
  byDefault,
  routesOf,
  warnOnce,
} from "./access.ts";
import { createTracing } from "./middleware.ts";
import {
  TRACE_MIDDLEWARE,
  type TraceMiddlewareOptions,
} from "./middleware_options.ts";
import { createViewerHandler } from "./viewer.ts";

/** Options of the trace plugin. */
export interface TracePluginOptions extends TraceMiddlewareOptions {
  /**
   * Decides who may read traces, and which pages and services may send spans.
   * Default: requests from this machine, and nobody in production.
   */
  readonly authorize?: Authorize;
  /**
   * The maximum of open sockets per address. An IPv6 network of 64 bits counts as
   * one address. Default: 100 for public addresses, and `Infinity` for private
   * ones, which often belong to proxies.
   */
  readonly maxSocketsPerAddress?: number;
}

const OPTIONS: OptionRules<TracePluginOptions> = {
  ...TRACE_MIDDLEWARE,
  authorize: aFunction,
  maxSocketsPerAddress: aLimit,
};

const PREFIX = "/__app/traces";

const NOTHING_HERE =
  `There is nothing at this path; the traces are at ${PREFIX}, and ${PREFIX}/api?help lists all paths`;

/**
 * Creates the plugin that traces an app's requests and shows them: the viewer
 * at `/__app/traces`, with its API at `/__app/traces/api` and its live stream
 * at `/__app/traces/ws`. It receives the spans of other services at
 * `/__app/traces/otlp`.
 *
 * Without `authorize` it prints a warning when the app starts, or with the first
 * request of another server. The dev command prints none.
 *
 * @param tracer Keeps the traces.
 * @param options The requests to trace, and access to the traces.
 * @throws {TypeError} If an option is wrong or unknown.
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
  const operation = "create trace plugin";
  checkTracer(tracer, operation, "startTrace", "getTraces", "subscribe");
  checkOptions(options, OPTIONS, operation);
  const { authorize = byDefault, maxSocketsPerAddress, ...traced } = options;
  const collector = createCollector(tracer);
  const api = createTracesAPIHandler(tracer, { authorize, collector });
  const viewer = createViewerHandler({ authorize });
  const otlp = createOTLPReceiver(tracer, { authorize });
  const stream = createTraceWebSocket(tracer, {
    authorize,
    collector,
    ...maxSocketsPerAddress !== undefined && { maxSocketsPerAddress },
  });

  const handlers = new Map([
    ["", viewer],
    ["/", viewer],
    ["/api", api],
    ["/ws", stream.upgrade],
  ]);
  const trace = createTracing(tracer, traced);

  function middleware(
    request: Request,
    context: Context,
    next: DirectNext,
  ): MaybePromise<Response> {
    const path = pathOf(request.url);
    const isBelow = path === PREFIX || path.startsWith(`${PREFIX}/`);
    if (!isBelow) return trace(request, context, next);
    const { info } = context;
    const below = path.slice(PREFIX.length);
    const handler = below.startsWith("/otlp/") ? otlp : handlers.get(below);
    if (handler !== undefined) return handler(request, info);
    const extra = routesOf(tracer).get(below);
    return extra === undefined
      ? errorResponse(404, "NOT_FOUND", NOTHING_HERE)
      : answer(extra, authorize, request, info);
  }

  return {
    name: "trace",
    middleware: Object.assign(acceptDirect(middleware), { outermost: true }),
    setup() {
      if (authorize === byDefault) warnOnce();
    },
    close: () => stream.close(),
  };
}

refuseUncalled(tracePlugin);
