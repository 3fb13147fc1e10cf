/**
 * Traces in other forms: packed for the viewer's page, OTLP/JSON, Chrome
 * traces, and what sends them to a collector.
 *
 * @module
 */

export {
  type ChromeTrace,
  type ChromeTraceArg,
  type ChromeTraceEvent,
  toChromeTrace,
} from "./chrome.ts";
export { insertTraceData, type TraceBlock } from "./html.ts";
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
  toOTLP,
} from "./otlp.ts";
export {
  createOTLPExporter,
  type OTLPBatchOptions,
  type OTLPDeadline,
  type OTLPExporter,
  type OTLPExporterClock,
  type OTLPExporterOptions,
  type OTLPExporterStats,
} from "./otlp_exporter.ts";
export { type PackedTraces, packTraces, unpackTraces } from "./pack.ts";
export { indexTrace, type TraceIndexEntry } from "./trace_index.ts";
