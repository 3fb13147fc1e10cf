/**
 * Traces as OTLP/JSON, the OpenTelemetry protocol, and back.
 *
 * @module
 */

export { fromOTLP } from "./otlp_reader.ts";
export type {
  OTLPAnyValue,
  OTLPEvent,
  OTLPKeyValue,
  OTLPResourceSpans,
  OTLPScopeSpans,
  OTLPSpan,
  OTLPStatus,
  OTLPTraces,
} from "./otlp_types.ts";
export { type OTLPOptions, toOTLP } from "./otlp_writer.ts";
