/**
 * Sends finished traces to an OpenTelemetry collector while the server runs.
 *
 * @module
 */

import { BatchExporter } from "./batch_exporter.ts";
import { readExporterOptions } from "./exporter_settings.ts";
import type { OTLPExporter, OTLPExporterOptions } from "./exporter_types.ts";

/**
 * Makes an exporter that hands traces to an OpenTelemetry collector, or to
 * anything else that takes OTLP/HTTP JSON: Jaeger, Tempo, a vendor.
 *
 * It never makes a request wait: a finished trace is put in a queue and sent
 * later, with others. The queue is bounded; what doesn't fit is dropped and
 * counted. A batch that the collector can't take now (429, 502, 503, 504, or
 * no connection) is sent again, up to six times, after one second and then
 * twice as long each time, or after what `Retry-After` says.
 *
 * @param options Where and how to send.
 * @returns The exporter. Close it before the process ends.
 * @throws {TypeError} If an option isn't what its description says.
 *
 * @example
 * ```ts
 * import { createOTLPExporter } from "@quartet/kit/trace";
 *
 * const exporter = createOTLPExporter({
 *   url: "http://localhost:4318",
 *   serviceName: "atlas",
 * });
 * // const detach = exporter.attach(tracer);
 * console.assert(exporter.stats.queued === 0);
 * await exporter.close();
 * ```
 */
export function createOTLPExporter(
  options: OTLPExporterOptions,
): OTLPExporter {
  return new BatchExporter(readExporterOptions(options));
}
