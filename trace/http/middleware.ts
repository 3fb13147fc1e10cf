import type { ConnectionInfo, RequestContext } from "../../core/context.ts";
import { isShared } from "../../core/http/cache_control.ts";
import { isResponse } from "../../core/http/is_response.ts";
import {
  dropTraceTiming,
  TRACE_ID,
  withoutTraceHeaders,
} from "../../core/http/trace_headers.ts";
import type { Middleware, Next } from "../../core/middleware.ts";
import { pathOf } from "../../core/path.ts";
import {
  currentScope,
  RequestScope,
  runInScope,
} from "../../core/request_scope.ts";
import { getTracer } from "../record/context.ts";
import {
  checkMiddleware,
  createExclusion,
  type TraceMiddlewareOptions,
} from "./middleware_options.ts";
import { requestAttributes } from "./request_attributes.ts";
import { isStreamType, onBodyEnd } from "./response_body.ts";
import { createSampler } from "../record/sampling.ts";
import { SpanImpl } from "../record/span.ts";
import { formatTraceparent, parseTraceparent } from "./traceparent.ts";
import { keepTracestate } from "./tracestate.ts";
import type { Span, Tracer } from "../types.ts";
import { UnsampledSpan } from "../record/unsampled_span.ts";

/**
 * Makes the middleware that gives every request its trace. It has to be the
 * outermost one; an app puts it there by itself.
 *
 * It continues the trace of a valid `traceparent` header, and tells the client
 * the trace in the header `X-App-Trace-Id` and the time in `Server-Timing`,
 * which for an HTML page also names the trace to the page's script. A response
 * that shared caches may keep gets neither header. The trace
 * ends when the response has been sent, its body included, if the host tells
 * that moment, as `Deno.serve` does with `info.completed`.
 *
 * @param tracer Keeps the traces. Default: the one of `setTracer`.
 * @param options What to leave out and what to keep.
 * @throws {TypeError} If an option isn't what its description says.
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
  checkMiddleware(tracer, options);
  const { exclude = [], recordHeaders = false } = options;
  const decide = createSampler(options.sample, options.trustParent);
  const isExcluded = createExclusion(exclude);

  function middleware(
    request: Request,
    context: RequestContext,
    next: Next,
  ): Response | Promise<Response> {
    const path = pathOf(request.url);
    if (isExcluded(path)) return next();
    const around = currentScope();
    // A request that the server makes to itself without a socket.
    const outer = around?.span as Span | undefined;
    if (isOf(request, path, outer)) return next();
    const { info } = context;
    const span = openSpan(request, path, outer, info);
    const proceed = span instanceof UnsampledSpan ? leaveOut : answer;
    if (around?.ownContext === context) {
      around.span = span;
      return proceed(span, around, info, next);
    }
    // Another host's context stays with that host.
    const scope = new RequestScope(undefined, span, around);
    return runInScope(scope, () => proceed(span, scope, info, next));
  }

  function openSpan(
    request: Request,
    path: string,
    outer: Span | undefined,
    info: ConnectionInfo | undefined,
  ): Span {
    const name = `${request.method} ${path}`;
    if (outer !== undefined) {
      const attributes = requestAttributes(request, path, recordHeaders);
      return outer.child(name, "request", attributes);
    }
    const { headers } = request;
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
    return span;
  }

  return Object.assign(middleware, { outermost: true });
}

/**
 * Whether the request is traced further out, as the dev command does: it is one
 * request all the same, whose span is to get the route.
 */
function isOf(
  { method }: Request,
  path: string,
  span: Span | undefined,
): boolean {
  return span instanceof SpanImpl && span.layer === "request" &&
    span.isOpen && span.name === `${method} ${path}`;
}

/** Answers a request that is not traced, and what it asks of itself. */
function leaveOut(
  _span: Span,
  scope: RequestScope,
  info: ConnectionInfo | undefined,
  next: Next,
): Response | Promise<Response> {
  const forget = () => scope.span = undefined;
  // What it has set going, such as a job, is not part of it for ever.
  info?.completed?.then(forget, forget);
  return next();
}

async function answer(
  span: Span,
  scope: RequestScope,
  info: ConnectionInfo | undefined,
  next: Next,
): Promise<Response> {
  let response: Response;
  try {
    response = await next();
  } catch (error) {
    if (!isResponse(error)) {
      fail(span, scope, error);
      throw error;
    }
    response = error;
  }
  return finish(response, span, scope, info);
}

/**
 * Notes what was answered. Apart from {@linkcode answer}, because an `async`
 * function keeps room for all its variables while it waits.
 */
function finish(
  response: Response,
  span: Span,
  scope: RequestScope,
  info: ConnectionInfo | undefined,
): Response {
  const { status } = response;
  span.setAttribute("http.response.status_code", status);
  if (status >= 500) {
    // OpenTelemetry HTTP spans: only 5xx is the server's failure.
    span.setAttribute("error.type", String(status));
    span.error();
  }
  if (status === 101) {
    end(span, scope);
    return response;
  }
  try {
    const type = response.headers.get("content-type");
    response = withTraceHeaders(response, type, span);
    const completed = info?.completed;
    // Without a type it is a stream or raw bytes: a string says what it is.
    // Deno's `completed` does not tell if the client left before the end.
    if (isStreamType(type) || (type === null && completed === undefined)) {
      return onBodyEnd(
        response,
        scope,
        () => end(span, scope),
        () => cutOff(span, scope),
      );
    }
    if (completed !== undefined) {
      completed.then(() => end(span, scope), () => cutOff(span, scope));
      return response;
    }
  } catch (error) {
    // A response that can't be sent, such as one whose body was read already.
    fail(span, scope, error);
    throw error;
  }
  end(span, scope);
  return response;
}

function end(span: Span, scope: RequestScope): void {
  span.end();
  scope.span = undefined;
}

function fail(span: Span, scope: RequestScope, error: unknown): void {
  span.setAttribute("http.response.status_code", 500);
  span.error(error);
  end(span, scope);
}

/** The client went away, or the body failed, before all of it was sent. */
function cutOff(span: Span, scope: RequestScope): void {
  span.event("response.cut_off");
  span.error();
  end(span, scope);
}

/** Sets headers in place, which costs a tenth of building a new response. */
function withTraceHeaders(
  response: Response,
  type: string | null,
  span: Span,
): Response {
  let { headers } = response;
  // A shared cache would send one visitor's trace to all others.
  if (isShared(headers)) return withoutTraceHeaders(response);
  const known = headers.has(TRACE_ID);
  try {
    headers.set(TRACE_ID, span.traceId);
  } catch {
    // The headers of a response from `fetch` or `Response.redirect` are fixed.
    response = new Response(response.body, response);
    headers = response.headers;
    headers.set(TRACE_ID, span.traceId);
  }
  // A response that passes here again, such as one of a request inside a
  // request or one that a handler keeps, is to tell one trace, not all.
  if (known) dropTraceTiming(headers);
  headers.append("server-timing", timingOf(type, span));
  return response;
}

/**
 * A page's script can't read the headers of its own page, but it can read
 * this one's entries; so they tell it the trace that it is part of.
 */
function timingOf(type: string | null, span: Span): string {
  const total = totalOf(span.elapsed());
  return type?.startsWith("text/html")
    ? `trace;desc=${formatTraceparent(span)}, ${total}`
    : total;
}

/** The entries for 0.000 to 0.999 ms, as far as they were needed. */
const SHORT_TOTALS = new Array<string | undefined>(1000);

/**
 * The entry that tells how long it took. Times below a millisecond, where each
 * microsecond counts, are looked up: what is put together from two strings has
 * to be copied into one before it can be sent. That saves 0.8 µs a request.
 */
function totalOf(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  return microseconds < SHORT_TOTALS.length
    ? SHORT_TOTALS[microseconds] ??= formatTotal(microseconds / 1000)
    : formatTotal(milliseconds);
}

function formatTotal(milliseconds: number): string {
  return `total;dur=${milliseconds.toFixed(3)}`;
}
