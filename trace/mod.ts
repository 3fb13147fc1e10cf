/**
 * Request tracing: where a request spent its time, layer by layer.
 *
 * One middleware gives every request a trace. Spans are opened below it by the
 * host, by the other modules of the kit, by the instrumentors here, and by
 * {@linkcode Tracer.withSpan}. The last traces are kept in memory; they are
 * printed by {@linkcode createCLIReporter} and shown by {@linkcode tracePlugin}.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createTracer, tracePlugin, traceQuery } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * const app = createApp({
 *   trace: tracePlugin(tracer),
 *   routes: [{
 *     path: "/",
 *     loader: () => traceQuery("SELECT 1", () => [1]),
 *   }],
 * });
 *
 * await app.fetch(new Request("http://localhost/"));
 * const [trace] = tracer.getTraces();
 * console.assert(trace?.metadata.routePattern === "/");
 * await app.close();
 * ```
 *
 * @module
 */

export * from "./types.ts";

// Tracing
export {
  createTracer,
  TracerImpl,
  type TracerOptions,
} from "./record/tracer.ts";
export { SpanImpl } from "./record/span.ts";
export {
  getActiveSpan,
  getTracer,
  setActiveSpan,
  setTracer,
} from "./record/context.ts";
export { noopSpan, noopTracer } from "./noop_tracer.ts";
export {
  generateSpanId,
  generateTraceId,
  type RandomSource,
} from "./record/ids.ts";
export type { Clock } from "./record/clock.ts";

// On the server
export { tracePlugin, type TracePluginOptions } from "./http/plugin.ts";
export { traceMiddleware } from "./http/middleware.ts";
export type { TraceMiddlewareOptions } from "./http/middleware_options.ts";
export type { Sample, TrustParent } from "./record/sampling.ts";
export { createTracesAPIHandler, type TracesAPIOptions } from "./live/api.ts";
export {
  createTraceWebSocket,
  type TraceWebSocket,
  type TraceWebSocketOptions,
} from "./live/websocket.ts";
export {
  type Collector,
  type CollectorOptions,
  type CollectResult,
  createCollector,
} from "./record/collector.ts";
export {
  createViewerHandler,
  exportTracesHTML,
  generateViewerHTML,
  type ViewerOptions,
} from "./http/viewer.ts";
export {
  type Authorize,
  isLocalRequest,
  type TraceAccess,
} from "./http/access.ts";

// Reading
export {
  type CLIReporter,
  type CLIReporterOptions,
  createCLIReporter,
} from "./report/cli.ts";
export { deserializeTrace, serializeTrace } from "./serialize.ts";

// For other tools
export {
  type ChromeTrace,
  type ChromeTraceArg,
  type ChromeTraceEvent,
  toChromeTrace,
} from "./export/chrome.ts";
export {
  fromOTLP,
  type OTLPAnyValue,
  type OTLPEvent,
  type OTLPKeyValue,
  type OTLPOptions,
  type OTLPResourceSpans,
  type OTLPScopeSpans,
  type OTLPSpan,
  type OTLPStatus,
  type OTLPTraces,
} from "./export/otlp.ts";
export { createOTLPExporter } from "./export/otlp_exporter.ts";
export { toOTLP } from "./export/to_otlp.ts";
export type {
  OTLPBatchOptions,
  OTLPDeadline,
  OTLPExporter,
  OTLPExporterOptions,
  OTLPExporterStats,
  OTLPExporterTimers,
} from "./export/exporter_types.ts";

// Instrumentors, a layer each
export { withSpan } from "./instrument/custom.ts";
export { recordRouteMatch, traceRouteMatch } from "./instrument/routing.ts";
export {
  type LoaderMetrics,
  recordLoaderMetrics,
  traceCacheOperation,
  traceLoader,
} from "./instrument/data.ts";
export {
  type FormValidation,
  recordFormValidation,
  traceFormSubmit,
} from "./instrument/forms.ts";
export { recordSignalBatch, recordSignalUpdate } from "./instrument/signals.ts";
export {
  recordRPCValidation,
  type RPCValidation,
  traceRPCCall,
} from "./instrument/rpc.ts";
export { type QueryOptions, traceQuery } from "./instrument/database.ts";
export { tracedAdapter } from "./instrument/traced_adapter.ts";
export {
  tracedFetch,
  type TracedFetchOptions,
} from "./instrument/traced_fetch.ts";
export { traceAuthCheck } from "./instrument/auth.ts";
export {
  type HydrationRecord,
  recordHydration,
  traceHydration,
} from "./instrument/islands.ts";
export { traceBuild, traceBuildStage } from "./instrument/build.ts";
export { traceError, withErrorCapture } from "./instrument/errors.ts";
