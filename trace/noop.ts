/**
 * Exports every name of `@quartet/kit/trace`, without any tracing. To remove
 * tracing from a production build, map `@quartet/kit/trace` to
 * `@quartet/kit/trace/noop` in the import map, or with an alias of the bundler.
 * The code that imports it stays the same.
 *
 * Functions that wrap work run the work. Middlewares call the next one. The paths
 * of the viewer answer 404.
 *
 * @example Run traced code without tracing
 * ```ts
 * import { noopTracer, traceLoader } from "@quartet/kit/trace/noop";
 *
 * console.assert(traceLoader("answer", () => 42) === 42);
 * console.assert(noopTracer.getTraces().length === 0);
 * ```
 *
 * @module
 */

import type { SerializedTrace, Span, Tracer } from "./types.ts";
import type * as real from "./mod.ts";
import { ExportCounts } from "./export/export_counts.ts";
import { NoopSpan, noopSpan, noopTracer, SilentTracer } from "./noop_tracer.ts";

// The values below replace the original's.
export type * from "./mod.ts";
export { noopSpan, noopTracer };

// deno-lint-ignore no-explicit-any -- the constants below say the types
type AnyFunction = (...args: any[]) => any;

const nothing = (): undefined => undefined;
const itself = <T>(value: T): T => value;
const tracer = (): Tracer => noopTracer;
const runFirst: AnyFunction = (fn) => fn(noopSpan);
const runSecond: AnyFunction = (_name, fn) => fn(noopSpan);
const runThird: AnyFunction = (_name, _detail, fn) => fn(noopSpan);
const later = (): Promise<void> => Promise.resolve();
const emptyPage = (): Promise<string> => Promise.resolve("");
const notFound = (): Promise<Response> =>
  Promise.resolve(new Response(null, { status: 404 }));
const notFoundHandler = () => notFound;
const traceId = (): string => crypto.randomUUID().replaceAll("-", "");

const spanId = () => traceId().slice(16);
const callNext: typeof real.traceMiddleware =
  () => (_request, _context, next) => next();
const plugin = () => ({ name: "trace" });
const reporter = () => ({ close: nothing, [Symbol.dispose]: nothing });
const socket = () => ({
  upgrade: notFound,
  size: 0,
  close: later,
  [Symbol.asyncDispose]: later,
});
const collector = () => ({ receive: () => ({ added: 0, rejected: 0 }) });
const no = () => false;
const serialize: typeof real.serializeTrace = (trace) => ({
  ...trace,
  spans: [...trace.spans.values()],
});
const deserialize: typeof real.deserializeTrace = (value) => {
  const { spans, ...trace }: SerializedTrace = typeof value === "string"
    ? JSON.parse(value)
    : value;
  return { ...trace, spans: new Map(spans.map((span) => [span.id, span])) };
};
const otlp = () => ({ resourceSpans: [] });
const noTraces = () => [];
const chromeTrace = () => ({
  traceEvents: [],
  displayTimeUnit: "ms" as const,
  otherData: { epoch: 0, startTime: "" },
});
const exporter = () => ({
  stats: new ExportCounts().read(0, 0),
  attach: () => nothing,
  flush: () => Promise.resolve(true),
  close: later,
  [Symbol.asyncDispose]: later,
});
const fetcher: typeof real.tracedFetch = (options) =>
  options?.fetch ?? ((input, init) => fetch(input, init));

/** The tracer that records nothing. */
export type NoopTracer = Tracer;
/** Creates a tracer that records nothing. */
export const NoopTracer: new (options?: real.TracerOptions) => Tracer =
  SilentTracer;
/** The tracer that records nothing, under the name of the one that does. */
export type TracerImpl = Tracer;
/** Creates a tracer that records nothing. */
export const TracerImpl: typeof NoopTracer = NoopTracer;
/** The span that records nothing, under the name of the one that does. */
export type SpanImpl = Span;
/** Creates a span that records nothing. */
export const SpanImpl: new () => Span = NoopSpan;

/** Returns the tracer that does nothing. */
export const createTracer: (options?: real.TracerOptions) => Tracer = tracer;
/** Does nothing. */
export const setTracer: typeof real.setTracer = nothing;
/** Returns the tracer that does nothing. */
export const getTracer: typeof real.getTracer = tracer;
/** Does nothing. */
export const setActiveSpan: typeof real.setActiveSpan = nothing;
/** Returns `undefined`. */
export const getActiveSpan: typeof real.getActiveSpan = nothing;
/** Returns a random id of 32 hex digits. */
export const generateTraceId: typeof real.generateTraceId = traceId;
/** Returns a random id of 16 hex digits. */
export const generateSpanId: typeof real.generateSpanId = spanId;

/** Returns a middleware that calls the next one. */
export const traceMiddleware: typeof real.traceMiddleware = callNext;
/** Returns a plugin without effect. */
export const tracePlugin: typeof real.tracePlugin = plugin;
/** Returns a reporter that prints nothing. */
export const createCLIReporter: typeof real.createCLIReporter = reporter;
/** Returns a handler that answers 404. */
export const createTracesAPIHandler: typeof real.createTracesAPIHandler =
  notFoundHandler;
/** Returns a handler that answers 404. */
export const createViewerHandler: typeof real.createViewerHandler =
  notFoundHandler;
/** Returns a handler that answers 404. */
export const createOTLPReceiver: typeof real.createOTLPReceiver =
  notFoundHandler;
/** Returns a stream that answers 404. */
export const createTraceWebSocket: typeof real.createTraceWebSocket = socket;
/** Returns a collector that takes nothing. */
export const createCollector: typeof real.createCollector = collector;
/** Returns `false`. */
export const isLocalRequest: typeof real.isLocalRequest = no;

/** Returns a trace as plain JSON. */
export const serializeTrace: typeof real.serializeTrace = serialize;
/** Returns the trace of its JSON, without checking it. */
export const deserializeTrace: typeof real.deserializeTrace = deserialize;
/** Returns an export without traces. */
export const toOTLP: typeof real.toOTLP = otlp;
/** Returns no traces. */
export const fromOTLP: typeof real.fromOTLP = noTraces;
/** Returns an export without traces. */
export const toChromeTrace: typeof real.toChromeTrace = chromeTrace;
/** Returns an exporter that sends nothing. */
export const createOTLPExporter: typeof real.createOTLPExporter = exporter;
/** Returns an empty text. */
export const generateViewerHTML: typeof real.generateViewerHTML = emptyPage;
/** Returns an empty text. */
export const exportTracesHTML: typeof real.exportTracesHTML = emptyPage;

/** Runs the given function. */
export const withSpan: typeof real.withSpan = runThird;
/** Runs the given function. */
export const traceRouteMatch: typeof real.traceRouteMatch = runFirst;
/** Does nothing. */
export const recordRouteMatch: typeof real.recordRouteMatch = nothing;
/** Runs the given function. */
export const traceLoader: typeof real.traceLoader = runSecond;
/** Does nothing. */
export const recordLoaderMetrics: typeof real.recordLoaderMetrics = nothing;
/** Runs the given function. */
export const traceCacheOperation: typeof real.traceCacheOperation = runThird;
/** Runs the given function. */
export const traceFormSubmit: typeof real.traceFormSubmit = runSecond;
/** Does nothing. */
export const recordFormValidation: typeof real.recordFormValidation = nothing;
/** Does nothing. */
export const recordSignalUpdate: typeof real.recordSignalUpdate = nothing;
/** Does nothing. */
export const recordSignalBatch: typeof real.recordSignalBatch = nothing;
/** Runs the given function. */
export const traceRPCCall: typeof real.traceRPCCall = runThird;
/** Does nothing. */
export const recordRPCValidation: typeof real.recordRPCValidation = nothing;
/** Returns the adapter itself. */
export const tracedAdapter: typeof real.tracedAdapter = itself;
/** Returns the given `fetch`, or one that calls the global one. */
export const tracedFetch: typeof real.tracedFetch = fetcher;
/** Runs the given function. */
export const traceQuery: typeof real.traceQuery = runSecond;
/** Runs the given function. */
export const traceAuthCheck: typeof real.traceAuthCheck = runSecond;
/** Runs the given function. */
export const traceHydration: typeof real.traceHydration = runSecond;
/** Does nothing. */
export const recordHydration: typeof real.recordHydration = nothing;
/** Runs the given function. */
export const traceBuild: typeof real.traceBuild = runSecond;
/** Runs the given function. */
export const traceBuildStage: typeof real.traceBuildStage = runSecond;
/** Does nothing. */
export const traceError: typeof real.traceError = nothing;
/** Returns the function itself. */
export const withErrorCapture: typeof real.withErrorCapture = itself;
