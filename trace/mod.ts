/**
 * Request tracing: a tree of spans for each request, from the session check to the
 * database query. The most recent traces stay in memory. {@linkcode createCLIReporter}
 * prints them, {@linkcode tracePlugin} serves the viewer, and
 * {@linkcode createOTLPExporter} sends them to an OpenTelemetry collector.
 *
 * @example Trace requests and a query
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createTracer, tracePlugin, traceQuery } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * const app = createApp({
 *   // The viewer is at /__app/traces.
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

export type * from "./types.ts";

// Tracing
export * from "./record/tracer.ts";
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
} from "./trace_context.ts";
export type { Clock } from "./record/tracer_options.ts";

// On the server
export { tracePlugin, type TracePluginOptions } from "./http/plugin.ts";
export { traceMiddleware } from "./http/middleware.ts";
export type { TraceMiddlewareOptions } from "./http/middleware_options.ts";
export type { Sample, TrustParent } from "./http/middleware_options.ts";
export {
  type Authorize,
  isLocalRequest,
  type TraceAccess,
} from "./http/access.ts";
export {
  createTracesAPIHandler,
  type TracesAPIOptions,
} from "./live/handlers.ts";
export * from "./live/handlers.ts";
export * from "./live/websocket.ts";
export {
  type Collector,
  type CollectorOptions,
  type CollectResult,
  createCollector,
} from "./record/collector.ts";

// Reading
export {
  type CLIReporter,
  type CLIReporterOptions,
  createCLIReporter,
} from "./report/cli.ts";
export * from "./http/viewer.ts";
export { deserializeTrace, serializeTrace } from "./serialize.ts";

// For other tools
export { toChromeTrace } from "./export/chrome.ts";
export type { ChromeTrace, ChromeTraceEvent } from "./export/chrome.ts";
export { fromOTLP } from "./export/otlp_reader.ts";
export { toOTLP } from "./export/otlp_writer.ts";
export type { OTLPOptions } from "./export/otlp_writer.ts";
export type * from "./export/otlp_types.ts";
export * from "./export/otlp_exporter.ts";
export type { OTLPExporterStats } from "./export/export_counts.ts";
export type {
  OTLPBatchOptions,
  OTLPDeadline,
  OTLPExporterOptions,
} from "./export/exporter_options.ts";
export type { OTLPExporterTimers } from "./export/otlp_sender.ts";

// Instrumentors, a layer each
export * from "./instrument/spans.ts";
export * from "./instrument/notes.ts";
export { traceQuery } from "./instrument/database.ts";
export type { QueryOptions } from "./instrument/database.ts";
export { tracedAdapter } from "./instrument/traced_adapter.ts";
export * from "./instrument/traced_fetch.ts";
