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

import type { Middleware } from "../app/middleware.ts";
import type { Plugin } from "../app/plugin.ts";
import { NoopSpan, noopSpan, NoopTracer, noopTracer } from "./noop_tracer.ts";
import type { CLIReporter } from "./report/cli.ts";
import type { Collector } from "./collector.ts";
import type { TraceWebSocket } from "./stream/websocket.ts";
import type {
  SerializedTrace,
  Span,
  SpanData,
  TraceData,
  Tracer,
} from "./types.ts";

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
export { NoopTracer as TracerImpl };

type Run<T> = (span: Span) => T;

/** Gives the tracer that does nothing. */
export const createTracer = (): Tracer => noopTracer;
/** Does nothing. */
export const setTracer = (): void => {};
/** Gives the tracer that does nothing. */
export const getTracer = (): Tracer => noopTracer;
/** Does nothing. */
export const setActiveSpan = (): void => {};
/** Gives nothing. */
export const getActiveSpan = (): undefined => {};
/** Makes a random id of 32 hex digits, for those who use it elsewhere. */
export const generateTraceId = (): string =>
  crypto.randomUUID().replaceAll("-", "");
/** Makes a random id of 16 hex digits, for those who use it elsewhere. */
export const generateSpanId = (): string => generateTraceId().slice(16);

/** Gives a middleware that calls the next one. */
export const traceMiddleware = (): Middleware => (_request, _context, next) =>
  next();
/** Gives a plugin without effect. */
export const tracePlugin = (): Plugin => ({ name: "trace" });
/** Gives a reporter that prints nothing. */
export const createCLIReporter = (): CLIReporter => ({ stop() {} });
/** Gives a handler that answers 404. */
export const createTracesAPIHandler = (): () => Promise<Response> => notFound;
/** Gives a stream that answers 404. */
export const createTraceWebSocket = (): TraceWebSocket => ({
  upgrade: notFound,
  size: 0,
  close: () => Promise.resolve(),
});
/** Gives a collector that takes nothing. */
export const createCollector = (): Collector => ({
  receive: () => ({ added: 0, rejected: 0 }),
});
/** Lets nobody in. */
export const isLocalRequest = (): boolean => false;

/** Turns a trace into plain JSON. */
export const serializeTrace = (trace: TraceData): SerializedTrace => ({
  ...trace,
  spans: [...trace.spans.values()],
});
/** Turns the JSON of a trace back into a trace, without checking it. */
export const deserializeTrace = (value: unknown): TraceData => {
  const trace: SerializedTrace = typeof value === "string"
    ? JSON.parse(value)
    : value;
  const spans = trace.spans.map((span): [string, SpanData] => [span.id, span]);
  return { ...trace, spans: new Map(spans) };
};

/** Runs `match`. */
export const traceRouteMatch = <T>(match: Run<T>): T => match(noopSpan);
/** Does nothing. */
export const recordRouteMatch = (): void => {};
/** Runs `load`. */
export const traceLoader = <T>(_name: string, load: Run<T>): T =>
  load(noopSpan);
/** Does nothing. */
export const recordLoaderMetrics = (): void => {};
/** Runs `run`. */
export const traceCacheOperation = <T>(
  _operation: string,
  _key: string,
  run: Run<T>,
): T => run(noopSpan);
/** Runs `submit`. */
export const traceFormSubmit = <T>(_name: string, submit: Run<T>): T =>
  submit(noopSpan);
/** Does nothing. */
export const recordFormValidation = (): void => {};
/** Does nothing. */
export const recordSignalUpdate = (): void => {};
/** Does nothing. */
export const recordSignalBatch = (): void => {};
/** Runs `call`. */
export const traceRPCCall = <T>(
  _path: string,
  _type: string,
  call: Run<T>,
): T => call(noopSpan);
/** Does nothing. */
export const recordRPCValidation = (): void => {};
/** Gives the adapter itself. */
export const tracedAdapter = <A extends object>(adapter: A): A => adapter;
/** Runs `run`. */
export const traceQuery = <T>(_text: string, run: Run<T>): T => run(noopSpan);
/** Runs `run`. */
export const traceAuthCheck = <T>(_check: string, run: Run<T>): T =>
  run(noopSpan);
/** Runs `hydrate`. */
export const traceHydration = <T>(_component: string, hydrate: Run<T>): T =>
  hydrate(noopSpan);
/** Does nothing. */
export const recordHydration = (): void => {};
/** Runs `run`. */
export const traceBuildStage = <T>(_stage: string, run: Run<T>): T =>
  run(noopSpan);
/** Runs `build`. */
export const traceBuild = <T>(_name: string, build: Run<T>): T =>
  build(noopSpan);
/** Does nothing. */
export const traceError = (): void => {};
/** Gives the function itself. */
export const withErrorCapture = <F>(fn: F): F => fn;

const notFound = () => Promise.resolve(new Response(null, { status: 404 }));
