import { type ConnectionInfo, Context } from "../../core/context.ts";
import { checkResponse } from "../../core/http/message.ts";
import type { MaybePromise } from "../../core/promises.ts";
import { currentScope } from "../../core/request_scope.ts";
import { createHost } from "../host.ts";
import { type Mountable, recoverResponse, toPlugins, visit } from "./mount.ts";

/** A middleware for servers that use Web `Request` and `Response`. */
export interface WebMiddleware {
  /**
   * Answers a request, or calls `next`.
   *
   * @param request The request.
   * @param info The connection, if the server knows it.
   * @param next Runs the rest of the server's chain.
   * @throws Errors of `next` that no part handles.
   */
  (
    request: Request,
    info: ConnectionInfo | undefined,
    next: () => Response | Promise<Response>,
  ): Promise<Response>;
  /** Notifies the plugins that a shutdown begins. */
  readonly drain: () => void;
  /**
   * Refuses new requests with 503, waits for pending ones for 10 seconds at most,
   * and then closes the plugins, the last one first. Calling it again does
   * nothing.
   */
  readonly close: () => Promise<void>;
}

/**
 * Creates a middleware from modules of the kit, for servers that use Web
 * `Request` and `Response`, such as Fresh.
 *
 * Handlers get the request's context from `currentContext()`.
 *
 * @param parts Plugins, middlewares and guards, the outermost first. Tracing is
 * always the outermost.
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
  const answer = (
    request: Request,
    info: ConnectionInfo | undefined,
    next: () => MaybePromise<Response>,
  ): Promise<Response> => {
    const context = knownContext(request) ?? new Context(request, info);
    return visit(
      host,
      context,
      async () => checkResponse(await next(), request, "next() must return"),
    );
  };
  const { drain, close } = host.app;
  return Object.assign(answer, { drain, close });
}

/** Returns the context that outer parts have created for the same request. */
function knownContext(request: Request): Context | undefined {
  const context = currentScope()?.context;
  return context instanceof Context && context.request === request
    ? context
    : undefined;
}
