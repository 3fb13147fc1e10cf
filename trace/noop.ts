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

import type { Middleware } from "../core/middleware.ts";
import type { Plugin } from "../core/plugin.ts";
import type { ChromeTrace } from "./export/chrome.ts";
import type { OTLPExporter } from "./export/exporter_types.ts";
import type * as real from "./mod.ts";
import { NoopSpan, noopSpan, NoopTracer, noopTracer } from "./noop_tracer.ts";
import type { SerializedTrace, Span, SpanData, TraceData } from "./types.ts";

export * from "./types.ts";
export type {
  ChromeTrace,
  ChromeTraceArg,
  ChromeTraceEvent,
} from "./export/chrome.ts";
export type {
  OTLPAnyValue,
  OTLPEvent,
  OTLPKeyValue,
  OTLPOptions,
  OTLPResourceSpans,
  OTLPScopeSpans,
  OTLPSpan,
  OTLPStatus,
  OTLPTraces,
} from "./export/otlp.ts";
export type {
  OTLPBatchOptions,
  OTLPDeadline,
  OTLPExporter,
  OTLPExporterOptions,
  OTLPExporterStats,
  OTLPExporterTimers,
} from "./export/exporter_types.ts";
export type { Authorize, TraceAccess } from "./http/access.ts";
export type { Clock } from "./record/clock.ts";
export type {
  Collector,
  CollectorOptions,
  CollectResult,
} from "./record/collector.ts";
export type { RandomSource } from "./record/ids.ts";
export type { LoaderMetrics } from "./instrument/data.ts";
export type { QueryOptions } from "./instrument/database.ts";
export type { FormValidation } from "./instrument/forms.ts";
export type { HydrationRecord } from "./instrument/islands.ts";
export type { RPCValidation } from "./instrument/rpc.ts";
export type { TracedFetchOptions } from "./instrument/traced_fetch.ts";
export type { TraceMiddlewareOptions } from "./http/middleware_options.ts";
export type { TracePluginOptions } from "./http/plugin.ts";
export type { Sample, TrustParent } from "./record/sampling.ts";
export type { CLIReporter, CLIReporterOptions } from "./report/cli.ts";
export type { TracesAPIOptions } from "./live/api.ts";
export type {
  TraceWebSocket,
  TraceWebSocketOptions,
} from "./live/websocket.ts";
export type { TracerOptions } from "./record/tracer.ts";
export type { ViewerOptions } from "./http/viewer.ts";

export { NoopSpan as SpanImpl, noopSpan, NoopTracer, noopTracer };

type Run = (span: Span) => unknown;

const nothing = (): undefined => undefined;
const no = (): boolean => false;
const itself = <T>(value: T): T => value;
const run = (fn: Run): unknown => fn(noopSpan);
const runNamed = (_name: string, fn: Run): unknown => fn(noopSpan);
const runDescribed = (_name: string, _detail: string, fn: Run): unknown =>
  fn(noopSpan);
const fetcher: typeof real.tracedFetch = (options) =>
  options?.fetch ?? ((input, init) => fetch(input, init));
const tracer = (): NoopTracer => noopTracer;
const emptyPage = (): Promise<string> => Promise.resolve("");
const nothingLater = (): Promise<void> => Promise.resolve();
const notFound = (): Promise<Response> =>
  Promise.resolve(new Response(null, { status: 404 }));
const noTraces = (): [] => [];
const noOTLP = () => ({ resourceSpans: [] });
const noChromeTrace = (): ChromeTrace => ({
  traceEvents: [],
  displayTimeUnit: "ms",
  otherData: { epoch: 0, startTime: "" },
});
const exporter = (): OTLPExporter => ({
  stats: { exported: 0, dropped: 0, failed: 0, queued: 0 },
  attach: () => nothing,
  flush: () => Promise.resolve(true),
  close: nothingLater,
  [Symbol.asyncDispose]: nothingLater,
});
const notFoundHandler = () => notFound;
const randomTraceId = (): string => crypto.randomUUID().replaceAll("-", "");
const randomSpanId = (): string => randomTraceId().slice(16);
const callNext = (): Middleware => (_request, _context, next) => next();
const plugin = (): Plugin => ({ name: "trace" });
const reporter = () => ({ stop: nothing, [Symbol.dispose]: nothing });
const socket = () => ({
  upgrade: notFound,
  size: 0,
  close: nothingLater,
  [Symbol.asyncDispose]: nothingLater,
});
const collector = () => ({ receive: () => ({ added: 0, rejected: 0 }) });
const serialize = (trace: TraceData): SerializedTrace => ({
  ...trace,
  spans: [...trace.spans.values()],
});
const deserialize = (value: unknown): TraceData => {
  const trace: SerializedTrace = typeof value === "string"
    ? JSON.parse(value)
    : value;
  const spans = trace.spans.map((span): [string, SpanData] => [span.id, span]);
  return { ...trace, spans: new Map(spans) };
};

/** The tracer that records nothing, under the name of the one that does. */
export type TracerImpl = NoopTracer;
/** Makes a tracer that records nothing. */
export const TracerImpl: new (options?: real.TracerOptions) => NoopTracer =
  NoopTracer;

/** Gives the tracer that does nothing. */
export const createTracer: (options?: real.TracerOptions) => NoopTracer =
  tracer;
/** Does nothing. */
export const setTracer: typeof real.setTracer = nothing;
/** Gives the tracer that does nothing. */
export const getTracer: typeof real.getTracer = tracer;
/** Does nothing. */
export const setActiveSpan: typeof real.setActiveSpan = nothing;
/** Gives nothing. */
export const getActiveSpan: typeof real.getActiveSpan = nothing;
/** Makes a random id of 32 hex digits, for those who use it elsewhere. */
export const generateTraceId: typeof real.generateTraceId = randomTraceId;
/** Makes a random id of 16 hex digits, for those who use it elsewhere. */
export const generateSpanId: typeof real.generateSpanId = randomSpanId;

/** Gives a middleware that calls the next one. */
export const traceMiddleware: typeof real.traceMiddleware = callNext;
/** Gives a plugin without effect. */
export const tracePlugin: typeof real.tracePlugin = plugin;
/** Gives a reporter that prints nothing. */
export const createCLIReporter: typeof real.createCLIReporter = reporter;
/** Gives a handler that answers 404. */
export const createTracesAPIHandler: typeof real.createTracesAPIHandler =
  notFoundHandler;
/** Gives a handler that answers 404. */
export const createViewerHandler: typeof real.createViewerHandler =
  notFoundHandler;
/** Gives a stream that answers 404. */
export const createTraceWebSocket: typeof real.createTraceWebSocket = socket;
/** Gives a collector that takes nothing. */
export const createCollector: typeof real.createCollector = collector;
/** Lets nobody in. */
export const isLocalRequest: typeof real.isLocalRequest = no;

/** Turns a trace into plain JSON. */
export const serializeTrace: typeof real.serializeTrace = serialize;
/** Turns the JSON of a trace back into a trace, without checking it. */
export const deserializeTrace: typeof real.deserializeTrace = deserialize;
/** Gives an export without traces. */
export const toOTLP: typeof real.toOTLP = noOTLP;
/** Reads no traces. */
export const fromOTLP: typeof real.fromOTLP = noTraces;
/** Gives an export without traces. */
export const toChromeTrace: typeof real.toChromeTrace = noChromeTrace;
/** Gives an exporter that sends nothing. */
export const createOTLPExporter: typeof real.createOTLPExporter = exporter;
/** Gives an empty text. */
export const generateViewerHTML: typeof real.generateViewerHTML = emptyPage;
/** Gives an empty text. */
export const exportTracesHTML: typeof real.exportTracesHTML = emptyPage;

/** Runs what it is given. */
export const withSpan: typeof real.withSpan =
  runDescribed as typeof real.withSpan;
/** Runs what it is given. */
export const traceRouteMatch: typeof real.traceRouteMatch =
  run as typeof real.traceRouteMatch;
/** Does nothing. */
export const recordRouteMatch: typeof real.recordRouteMatch = nothing;
/** Runs what it is given. */
export const traceLoader: typeof real.traceLoader =
  runNamed as typeof real.traceLoader;
/** Does nothing. */
export const recordLoaderMetrics: typeof real.recordLoaderMetrics = nothing;
/** Runs what it is given. */
export const traceCacheOperation: typeof real.traceCacheOperation =
  runDescribed as typeof real.traceCacheOperation;
/** Runs what it is given. */
export const traceFormSubmit: typeof real.traceFormSubmit =
  runNamed as typeof real.traceFormSubmit;
/** Does nothing. */
export const recordFormValidation: typeof real.recordFormValidation = nothing;
/** Does nothing. */
export const recordSignalUpdate: typeof real.recordSignalUpdate = nothing;
/** Does nothing. */
export const recordSignalBatch: typeof real.recordSignalBatch = nothing;
/** Runs what it is given. */
export const traceRPCCall: typeof real.traceRPCCall =
  runDescribed as typeof real.traceRPCCall;
/** Does nothing. */
export const recordRPCValidation: typeof real.recordRPCValidation = nothing;
/** Gives the adapter itself. */
export const tracedAdapter: typeof real.tracedAdapter = itself;
/** Gives the `fetch` that was given, or one that calls the global one. */
export const tracedFetch: typeof real.tracedFetch = fetcher;
/** Runs what it is given. */
export const traceQuery: typeof real.traceQuery =
  runNamed as typeof real.traceQuery;
/** Runs what it is given. */
export const traceAuthCheck: typeof real.traceAuthCheck =
  runNamed as typeof real.traceAuthCheck;
/** Runs what it is given. */
export const traceHydration: typeof real.traceHydration =
  runNamed as typeof real.traceHydration;
/** Does nothing. */
export const recordHydration: typeof real.recordHydration = nothing;
/** Runs what it is given. */
export const traceBuild: typeof real.traceBuild =
  runNamed as typeof real.traceBuild;
/** Runs what it is given. */
export const traceBuildStage: typeof real.traceBuildStage =
  runNamed as typeof real.traceBuildStage;
/** Does nothing. */
export const traceError: typeof real.traceError = nothing;
/** Gives the function itself. */
export const withErrorCapture: typeof real.withErrorCapture = itself;
