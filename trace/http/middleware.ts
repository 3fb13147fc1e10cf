import type { ConnectionInfo } from "../../core/context.ts";
import { readResponse } from "../../core/http/cache_control.ts";
import { isUnread, pathOf, TRACE_ID } from "../../core/http/message.ts";
import {
  acceptDirect,
  type DirectMiddleware,
  type DirectNext,
  type Middleware,
} from "../../core/middleware.ts";
import { isThenable, type MaybePromise } from "../../core/promises.ts";
import {
  RequestScope,
  runInScope,
  scopeAround,
} from "../../core/request_scope.ts";
import { NoopSpan, noopSpan } from "../noop_tracer.ts";
import { getTracer } from "../record/context.ts";
import { UnsampledSpan } from "../record/unrecorded_spans.ts";
import type { Span, Tracer } from "../types.ts";
import {
  adjustTrace,
  checkMiddlewareOptions,
  createExclusion,
  createSampler,
  deferring,
  dropTrace,
  isUndecided,
  type TraceMiddlewareOptions,
  undecided,
} from "./middleware_options.ts";
import { noteStatus, requestAttributes } from "./request_attributes.ts";
import { isStreamType, onBodyEnd, withTraceHeaders } from "./response.ts";
import { keepTracestate, parseTraceparent } from "../trace_context.ts";

/**
 * Creates the middleware that traces requests. It must be the outermost one.
 * The kit's apps and adapters move it there.
 *
 * It continues the trace of a valid `traceparent` header. The response has the
 * trace id in `X-App-Trace-Id` and its duration in `Server-Timing`. For pages and
 * their resources, `Server-Timing` also names the trace to the page's script. A
 * response for shared caches gets neither header, except under the dev command.
 *
 * The trace ends when the response has been sent, including its body, if the
 * host has `info.completed`, as `Deno.serve` does.
 *
 * A request that passes through several of these middlewares, as on nested
 * apps, has one span, opened by the outermost middleware. Under the dev command
 * with `--trace`, that is the command's. Your `exclude` and `recordHeaders`
 * still apply, and so do the `layers`, `minDurationMs` and `maxSpansPerTrace`
 * of your tracer.
 *
 * A request that a handler makes to an app of its own process has a span below
 * the handler's.
 *
 * @param tracer Keeps the traces. Default: the one of `setTracer`.
 * @param options The requests to leave out, and the headers to keep.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createTracer, traceMiddleware } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * const server = createApp();
 * server.use(traceMiddleware(tracer));
 *
 * const response = await server.fetch(new Request("http://localhost/nothing"));
 * console.assert(response.headers.has("x-app-trace-id"));
 * console.assert(tracer.getTraces()[0]?.metadata.statusCode === 404);
 * ```
 */
export function traceMiddleware(
  tracer: Tracer = getTracer(),
  options: TraceMiddlewareOptions = {},
): Middleware {
  const middleware = acceptDirect(createTracing(tracer, options));
  return Object.assign(middleware, { outermost: true });
}

/** Creates the function behind {@linkcode traceMiddleware}. */
export function createTracing(
  tracer: Tracer,
  options: TraceMiddlewareOptions,
): DirectMiddleware {
  checkMiddlewareOptions(tracer, options);
  const { exclude = [], recordHeaders = false } = options;
  const decide = createSampler(options.sample, options.trustParent);
  const isExcluded = createExclusion(exclude);
  const isDeferring = deferring.has(tracer);

  return (request, context, next) => {
    const path = pathOf(request.url);
    const isLeftOut = isExcluded(path);
    const around = scopeAround(context);
    const outer = around?.span as Span | undefined;
    const isOwnScope = around?.ownContext === context;
    const isKnown = outer !== undefined && isTraced(request, around);
    if (isKnown && isUndecided(outer.root)) {
      if (isLeftOut) dropTrace(outer.root, around);
      else {
        const attributes = requestAttributes(request, path, recordHeaders);
        adjustTrace(outer.root, tracer, attributes);
      }
    }
    if (isLeftOut) return next();
    if (isKnown) {
      if (isOwnScope) around!.tracedRequest = request;
      return next();
    }
    const { info } = context;
    const span = openSpan(request, path, outer, info);
    const proceed = span instanceof NoopSpan ? leaveOut : answer;
    // The scope of another host keeps its context.
    const scope = isOwnScope
      ? around!
      : new RequestScope(undefined, span, around);
    if (!isOwnScope) scope.info = info;
    scope.span = span;
    scope.tracedRequest = request;
    return isOwnScope
      ? proceed(span, scope, info, next)
      : runInScope(scope, () => proceed(span, scope, info, next));
  };

  function openSpan(
    request: Request,
    path: string,
    outer: Span | undefined,
    info: ConnectionInfo | undefined,
  ): Span {
    const name = `${request.method} ${path}`;
    const { headers } = request;
    // A request that the server makes to itself without a socket.
    const inner = outer?.child(
      name,
      "request",
      requestAttributes(request, path, recordHeaders),
    );
    // Work that outlives its trace starts another one.
    if (inner !== undefined && inner !== noopSpan) return inner;
    const parent = parseTraceparent(headers.get("traceparent"));
    const decision = decide?.(request, parent, info);
    const span = decision !== undefined && !decision.isKept
      ? new UnsampledSpan(decision.traceId)
      : tracer.startTrace(name, "request", {
        attributes: requestAttributes(request, path, recordHeaders),
        ...parent,
        ...(decision && { traceId: decision.traceId }),
      });
    if (parent !== undefined) keepTracestate(span, headers);
    if (isDeferring) undecided.add(span);
    return span;
  }
}

/**
 * Whether an outer scope has a span for this request. A host may have replaced
 * the request with a copy that limits its body.
 */
function isTraced(request: Request, scope: RequestScope | undefined): boolean {
  for (; scope !== undefined; scope = scope.outer) {
    if (scope.tracedRequest === undefined) continue;
    const context = scope.ownContext as { request?: Request } | undefined;
    if (scope.tracedRequest === request || context?.request === request) {
      return true;
    }
  }
  return false;
}

/**
 * Answers a request that isn't sampled, or that has a tracer without effect.
 * Requests to its own process aren't sampled either.
 */
function leaveOut(
  _span: Span,
  scope: RequestScope,
  info: ConnectionInfo | undefined,
  next: DirectNext,
): MaybePromise<Response> {
  const forget = () => scope.span = scope.tracedRequest = undefined;
  // A job that it has started doesn't belong to it forever.
  info?.completed?.then(forget, forget);
  return next();
}

/** Answers a request in its span. Creates no promise if nothing waits. */
function answer(
  span: Span,
  scope: RequestScope,
  info: ConnectionInfo | undefined,
  next: DirectNext,
): MaybePromise<Response> {
  let response: MaybePromise<Response>;
  try {
    response = next();
  } catch (error) {
    return refuse(error);
  }
  return isThenable(response)
    ? response.then((response) => finish(response, span, scope, info), refuse)
    : finish(response, span, scope, info);

  function refuse(error: unknown): Response {
    // A thrown response is an answer, not a failure.
    if (isUnread(error)) return finish(error, span, scope, info);
    fail(span, scope, error);
    throw error;
  }
}

/** Records the response, and ends the span when it has been sent. */
function finish(
  response: Response,
  span: Span,
  scope: RequestScope,
  info: ConnectionInfo | undefined,
): Response {
  const request = scope.tracedRequest as Request | undefined;
  // The app's own tracing has excluded the request.
  if (request === undefined) return response;
  const { status } = response;
  noteStatus(span, status, 500);
  const sent = () => end(span, scope);
  if (status === 101) {
    sent();
    return response;
  }
  const cutOff = (error?: unknown) => {
    span.event("response.cut_off");
    span.error(error);
    end(span, scope);
  };
  try {
    const facts = readResponse(response.headers, TRACE_ID);
    const { type } = facts;
    response = withTraceHeaders(response, facts, span, request);
    const completed = info?.completed;
    // A response without a type is a stream or raw bytes. Deno's `completed`
    // doesn't reveal whether the client left early.
    const isStream = isStreamType(type) ||
      (type === null && completed === undefined);
    // Servers discard the body of an answer to HEAD, some only at the client's end.
    const isHead = request.method === "HEAD";
    if (isStream && !isHead) return onBodyEnd(response, scope, sent, cutOff);
    if (completed === undefined) sent();
    else completed.then(sent, () => isHead ? sent() : cutOff());
    return response;
  } catch (error) {
    // The response can't be sent, for example because its body was read before.
    fail(span, scope, error);
    throw error;
  }
}

function end(span: Span, scope: RequestScope): void {
  span.end();
  scope.span = scope.tracedRequest = undefined;
}

function fail(span: Span, scope: RequestScope, error: unknown): void {
  span.setAttribute("http.response.status_code", 500);
  span.error(error);
  end(span, scope);
}
