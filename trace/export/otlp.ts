/**
 * Traces as OTLP/JSON, the OpenTelemetry protocol, and back.
 *
 * @module
 */

export { fromOTLP } from "./otlp_reader.ts";
export { type OTLPOptions, toOTLP } from "./otlp_writer.ts";
