/**
 * Tracing that does nothing: every name of `@quartet/kit/trace`, to be put in
 * its place in production.
 *
 * Map `@quartet/kit/trace` to `@quartet/kit/trace/noop` in the import map or as
 * an alias of the bundler; no other change is needed. Functions that wrap work
 * still do the work, middlewares still call the next one, and the addresses of
 * the traces answer 404.
 *
 * @example
 * ```ts
 * import { noopTracer, traceLoader } from "@quartet/kit/trace/noop";
 *
 * console.assert(traceLoader("answer", () => 42) === 42);
 * console.assert(noopTracer.getTraces().length === 0);
 * ```
 *
 * @module
 */

import { NoopSpan, noopSpan, NoopTracer, noopTracer } from "./noop_tracer.ts";
import type * as real from "./mod.ts";
import type { SpanData } from "./types.ts";

export * from "./types.ts";
export type { Authorize } from "./access.ts";
export type { Clock } from "./clock.ts";
export type {
  Collector,
  CollectorOptions,
  CollectResult,
} from "./collector.ts";
export type { RandomSource } from "./ids.ts";
export type { LoaderMetrics } from "./instrument/data.ts";
export type { QueryOptions } from "./instrument/database.ts";
export type { FormValidation } from "./instrument/forms.ts";
export type { HydrationRecord } from "./instrument/islands.ts";
export type { RPCValidation } from "./instrument/rpc.ts";
export type { TraceMiddlewareOptions } from "./middleware.ts";
export type { TracePluginOptions } from "./plugin.ts";
export type { CLIReporter, CLIReporterOptions } from "./report/cli.ts";
export type { TracesAPIOptions } from "./stream/api.ts";
export type {
  TraceWebSocket,
  TraceWebSocketOptions,
} from "./stream/websocket.ts";
export type { TracerOptions } from "./tracer.ts";

export { NoopSpan as SpanImpl, noopSpan, NoopTracer, noopTracer };

/** The tracer that records nothing, under the name of the one that does. */
export type TracerImpl = NoopTracer;
/** Makes a tracer that records nothing. */
export const TracerImpl: new (options?: real.TracerOptions) => NoopTracer =
  NoopTracer;

/** Gives the tracer that does nothing. */
export const createTracer: (options?: real.TracerOptions) => NoopTracer = () =>
  noopTracer;
/** Does nothing. */
export const setTracer: typeof real.setTracer = () => {};
/** Gives the tracer that does nothing. */
export const getTracer: typeof real.getTracer = () => noopTracer;
/** Does nothing. */
export const setActiveSpan: typeof real.setActiveSpan = () => {};
/** Gives nothing. */
export const getActiveSpan: typeof real.getActiveSpan = () => undefined;
/** Makes a random id of 32 hex digits, for those who use it elsewhere. */
export const generateTraceId: typeof real.generateTraceId = () =>
  crypto.randomUUID().replaceAll("-", "");
/** Makes a random id of 16 hex digits, for those who use it elsewhere. */
export const generateSpanId: typeof real.generateSpanId = () =>
  generateTraceId().slice(16);

/** Gives a middleware that calls the next one. */
export const traceMiddleware: typeof real.traceMiddleware =
  () => (_request, _context, next) => next();
/** Gives a plugin without effect. */
export const tracePlugin: typeof real.tracePlugin = () => ({ name: "trace" });
/** Gives a reporter that prints nothing. */
export const createCLIReporter: typeof real.createCLIReporter = () => ({
  stop() {},
});
/** Gives a handler that answers 404. */
export const createTracesAPIHandler: typeof real.createTracesAPIHandler = () =>
  notFound;
/** Gives a stream that answers 404. */
export const createTraceWebSocket: typeof real.createTraceWebSocket = () => ({
  upgrade: notFound,
  size: 0,
  close: () => Promise.resolve(),
});
/** Gives a collector that takes nothing. */
export const createCollector: typeof real.createCollector = () => ({
  receive: () => ({ added: 0, rejected: 0 }),
});
/** Lets nobody in. */
export const isLocalRequest: typeof real.isLocalRequest = () => false;

/** Turns a trace into plain JSON. */
export const serializeTrace: typeof real.serializeTrace = (trace) => ({
  ...trace,
  spans: [...trace.spans.values()],
});
/** Turns the JSON of a trace back into a trace, without checking it. */
export const deserializeTrace: typeof real.deserializeTrace = (value) => {
  const trace = typeof value === "string" ? JSON.parse(value) : value;
  const spans = trace.spans.map((span: SpanData) => [span.id, span]);
  return { ...trace, spans: new Map(spans) };
};

/** Runs `match`. */
export const traceRouteMatch: typeof real.traceRouteMatch = (match) =>
  match(noopSpan);
/** Does nothing. */
export const recordRouteMatch: typeof real.recordRouteMatch = () => {};
/** Runs `load`. */
export const traceLoader: typeof real.traceLoader = (_name, load) =>
  load(noopSpan);
/** Does nothing. */
export const recordLoaderMetrics: typeof real.recordLoaderMetrics = () => {};
/** Runs `run`. */
export const traceCacheOperation: typeof real.traceCacheOperation = (
  _operation,
  _key,
  run,
) => run(noopSpan);
/** Runs `submit`. */
export const traceFormSubmit: typeof real.traceFormSubmit = (_name, submit) =>
  submit(noopSpan);
/** Does nothing. */
export const recordFormValidation: typeof real.recordFormValidation = () => {};
/** Does nothing. */
export const recordSignalUpdate: typeof real.recordSignalUpdate = () => {};
/** Does nothing. */
export const recordSignalBatch: typeof real.recordSignalBatch = () => {};
/** Runs `call`. */
export const traceRPCCall: typeof real.traceRPCCall = (_path, _type, call) =>
  call(noopSpan);
/** Does nothing. */
export const recordRPCValidation: typeof real.recordRPCValidation = () => {};
/** Gives the adapter itself. */
export const tracedAdapter: typeof real.tracedAdapter = (adapter) => adapter;
/** Runs `run`. */
export const traceQuery: typeof real.traceQuery = (_text, run) => run(noopSpan);
/** Runs `run`. */
export const traceAuthCheck: typeof real.traceAuthCheck = (_check, run) =>
  run(noopSpan);
/** Runs `hydrate`. */
export const traceHydration: typeof real.traceHydration = (
  _component,
  hydrate,
) => hydrate(noopSpan);
/** Does nothing. */
export const recordHydration: typeof real.recordHydration = () => {};
/** Runs `run`. */
export const traceBuildStage: typeof real.traceBuildStage = (_stage, run) =>
  run(noopSpan);
/** Runs `build`. */
export const traceBuild: typeof real.traceBuild = (_name, build) =>
  build(noopSpan);
/** Does nothing. */
export const traceError: typeof real.traceError = () => {};
/** Gives the function itself. */
export const withErrorCapture: typeof real.withErrorCapture = (fn) => fn;

const notFound = () => Promise.resolve(new Response(null, { status: 404 }));
