import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import type { SerializedTrace } from "../types.ts";
import type { OTLPTraces } from "./otlp_types.ts";
import { type OTLPOptions, toOTLP as write } from "./otlp_writer.ts";

const OPTIONS: OptionRules<OTLPOptions> = { serviceName: true };

/**
 * Writes traces as OTLP/JSON, for any OpenTelemetry collector or backend. Each
 * service, and the browser, is a resource with its spans.
 *
 * Attributes of the kit carry data that OTLP has no field for. `fromOTLP` reads
 * them:
 *
 * - `app.layer`, on each span;
 * - `app.status`, on spans that were open when their trace ended;
 * - `app.trace`, on the root, if the trace's metadata differs from the root's
 *   semantic-convention attributes.
 *
 * @param traces The traces. Traces without spans are left out.
 * @param options The name of this service.
 * @returns An object to send or store as JSON.
 * @throws {TypeError} If an id isn't valid W3C Trace Context, a time isn't
 * finite, or an option is unknown.
 *
 * @example
 * ```ts
 * import { toOTLP } from "@quartet/kit/trace";
 *
 * const { resourceSpans } = toOTLP([], { serviceName: "atlas" });
 * console.assert(resourceSpans.length === 1);
 * ```
 */
export function toOTLP(
  traces: readonly SerializedTrace[],
  options: OTLPOptions = {},
): OTLPTraces {
  checkOptions(options, OPTIONS, "write OTLP");
  return write(traces, options);
}
