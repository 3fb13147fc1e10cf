import { Context } from "../../core/context.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { createHost } from "../host.ts";
import { currentScope } from "../../core/request_scope.ts";
import type { Mountable } from "./mountable.ts";
import { toPlugins } from "./mountable.ts";
import { recoverResponse, visit } from "./visit.ts";

/** The parts as one function, for servers whose middlewares look like it. */
export interface WebMiddleware {
  /**
   * Answers a request, or has the server do so.
   *
   * @param request The request.
   * @param info What the server knows of the connection, if it tells.
   * @param next What is further in on the server.
   * @throws What `next` throws and no part has an answer for.
   */
  (
    request: Request,
    info: ConnectionInfo | undefined,
    next: () => Response | Promise<Response>,
  ): Promise<Response>;
  /** Tells the plugins that a shutdown begins. */
  readonly drain: () => void;
  /** Closes the plugins, the last one first. Calling it again does nothing. */
  readonly close: () => Promise<void>;
}

/**
 * Makes one function out of modules of the kit, for servers whose middlewares
 * take a Web `Request` and get a `Response` from what is further in, as Fresh's
 * do.
 *
 * Handlers ask `currentContext()` for what the modules know of the request.
 *
 * @param parts Plugins, middlewares and guards, the outermost first; tracing
 * wraps the others wherever it stands.
 * @throws {TypeError} If a part is not a plugin, middleware or guard, or two
 * plugins share a name.
 *
 * @example
 * ```ts
 * import { toMiddleware } from "@quartet/kit/app";
 * import { createTracer, tracePlugin } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * const kit = toMiddleware(tracePlugin(tracer));
 *
 * // On Fresh: app.use((ctx) => kit(ctx.req, ctx.info, () => ctx.next()));
 * const request = new Request("http://localhost/");
 * const response = await kit(request, undefined, () => new Response("hello"));
 * console.assert(await response.text() === "hello");
 * console.assert(tracer.getTraces().length === 1);
 * ```
 */
export function toMiddleware(...parts: Mountable[]): WebMiddleware {
  const host = createHost({
    plugins: toPlugins(parts),
    recover: recoverResponse,
  });
  const middleware = (
    request: Request,
    info: ConnectionInfo | undefined,
    next: () => Response | Promise<Response>,
  ): Promise<Response> => {
    const context = known(request) ?? new Context(request, info);
    return visit(host, context, async () => await next());
  };
  const { drain, close } = host.app;
  return Object.assign(middleware, { drain, close });
}

/** The context that parts further out have made for the same request. */
function known(request: Request): Context | undefined {
  const context = currentScope()?.context;
  return context instanceof Context && context.request === request
    ? context
    : undefined;
}
