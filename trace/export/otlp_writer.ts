import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import type { AttributeValue, SerializedTrace, SpanData } from "../types.ts";
import { show } from "../../core/check/rules.ts";
import { isHex } from "../../core/bytes/bytes.ts";
import type { OTLPKeyValue, OTLPSpan, OTLPTraces } from "./otlp_types.ts";
import { checkSerialized } from "../serialize.ts";
import { attributeText, exceptionOf } from "./attributes.ts";
import { toKeyValues, toUnixNano } from "./otlp_value.ts";
import {
  isClientSpan,
  metadataOf,
  metadataText,
  OWN,
  spanKind,
} from "./semantics.ts";
import { findRoot } from "./trace_assembler.ts";

/** The attributes that the kit sets itself. */
const OWN_KEYS: ReadonlySet<string> = new Set(Object.values(OWN));

/** How {@linkcode toOTLP} names what it writes. */
export interface OTLPOptions {
  /**
   * The name of the service of spans without the attribute `service.name`. Spans
   * of a browser without it belong to `browser`. Default: `unknown_service`, as
   * the semantic conventions require.
   */
  readonly serviceName?: string;
}

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
 * @throws {TypeError} If the traces aren't serialized, an id isn't valid W3C
 * Trace Context, a time isn't finite, or an option is unknown.
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
  checkSerialized(traces, "write OTLP");
  const { serviceName = "unknown_service" } = options;
  const sources = traces.flatMap(({ spans }) => spans);
  const services = Map.groupBy(
    traces.flatMap(traceSpans),
    (_, i) => serviceOf(sources[i]!) ?? serviceName,
  );
  if (services.size === 0) services.set(serviceName, []);
  return {
    resourceSpans: Array.from(
      services,
      ([name, spans]) =>
        toResourceSpans(toKeyValues({ "service.name": name }), spans),
    ),
  };
}

/** Returns the spans of one service. */
export function toResourceSpans(
  attributes: readonly OTLPKeyValue[],
  spans: readonly OTLPSpan[],
): OTLPTraces["resourceSpans"][number] {
  return {
    resource: { attributes },
    scopeSpans: [{ scope: { name: "@quartet/kit" }, spans }],
  };
}

/** Returns the service of a span, or `undefined` for the one that writes it. */
function serviceOf(span: SpanData): string | undefined {
  return attributeText(span, "service.name") ||
    (isClientSpan(span) ? "browser" : undefined);
}

/** Returns the spans of a trace in OTLP's form, in the same order. */
export function traceSpans(trace: SerializedTrace): OTLPSpan[] {
  const { spans, metadata } = trace;
  checkId("trace", trace.id, 16);
  const root = spans.find((span) => span.id === trace.rootSpanId) ?? spans[0];
  const traceIds = new Map(spans.map(({ id, traceId }) => [id, traceId]));
  return spans.map((span) => {
    const own: Record<string, AttributeValue> = { [OWN.layer]: span.layer };
    if (span.status === "timeout") own[OWN.status] = span.status;
    // OTLP has no parents in other traces. A link says where the span belongs.
    const above = traceIds.get(span.parentId ?? "") ?? span.traceId;
    const parentId = above === span.traceId ? span.parentId : null;
    if (span === root) {
      const told = metadataText(metadata);
      const implied = metadataText(metadataOf(span)) === told &&
        findRoot(spans) === span;
      if (!implied) own[OWN.trace] = told;
    }
    return toSpan(span, parentId, own);
  });
}

function toSpan(
  span: SpanData,
  parentId: string | null,
  own: Record<string, AttributeValue>,
): OTLPSpan {
  checkId("trace", span.traceId, 16);
  checkId("span", span.id, 8);
  if (parentId !== null) checkId("parent", parentId, 8);
  const { droppedAttributes = 0, droppedEvents = 0 } = span;
  return {
    traceId: span.traceId,
    spanId: span.id,
    ...(parentId !== null && { parentSpanId: parentId }),
    name: span.name.toWellFormed(),
    kind: spanKind(span),
    startTimeUnixNano: toUnixNano(span.startTime),
    endTimeUnixNano: toUnixNano(span.endTime),
    attributes: [
      // Keys must be unique.
      ...toKeyValues(span.attributes).filter(({ key }) => !OWN_KEYS.has(key)),
      ...toKeyValues(own),
    ],
    ...(droppedAttributes > 0 && { droppedAttributesCount: droppedAttributes }),
    events: span.events.map(({ name, time, attributes }) => ({
      timeUnixNano: toUnixNano(time),
      name: name.toWellFormed(),
      ...(attributes && { attributes: toKeyValues(attributes) }),
    })),
    ...(droppedEvents > 0 && { droppedEventsCount: droppedEvents }),
    status: statusOf(span),
  };
}

/**
 * `ok` becomes unset: the specification reserves 1 for a judgement by a person.
 */
function statusOf(span: SpanData): OTLPSpan["status"] {
  if (span.status === "ok") return { code: 0 };
  if (span.status === "timeout") {
    return { code: 2, message: "The span was open when its trace ended" };
  }
  const message = exceptionOf(span)?.attributes?.["exception.message"];
  return typeof message === "string"
    ? { code: 2, message: message.toWellFormed() }
    : { code: 2 };
}

function checkId(what: string, id: string, bytes: number): void {
  if (isHex(id, bytes) && !/^0+$/.test(id)) return;
  throw new TypeError(
    `Cannot write OTLP: a ${what} id must be ${bytes * 2} lower-case ` +
      `hexadecimal digits, not all 0, received ${show(id)}`,
  );
}
