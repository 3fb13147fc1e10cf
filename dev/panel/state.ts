/**
 * The state of a page in the panel: figures of its traces, and their findings.
 *
 * @module
 */

import { attributeText, isQuery } from "../../trace/export/attributes.ts";
import { isOpenSpan, isReceivedRequest } from "../../trace/export/semantics.ts";
import type { Finding } from "../../trace/finding.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";
import type { Findings } from "../findings/findings.ts";

/** The state of a page. In JSON, `undefined` fields are absent. */
export type PanelState = ReturnType<typeof stateOf>;

/** A finding, as the panel shows it. */
export type PanelFinding = ReturnType<typeof panelFinding>;

const MAX_FINDINGS = 20;

/**
 * Returns the state of a page.
 *
 * @param ids The ids of the traces of its requests. The first one is the
 * document's.
 */
export function stateOf(
  tracer: Pick<Tracer, "getTrace">,
  ids: readonly string[],
  findings: Pick<Findings, "of">,
) {
  const kept = ids.map((id) => tracer.getTrace(id));
  const [page] = kept;
  // Several requests may have become one trace.
  const traces = new Map<string, TraceData>();
  for (const trace of kept) if (trace) traces.set(trace.id, trace);
  const spans = [...traces.values().flatMap(({ spans }) => spans.values())];
  const count = (test: (span: SpanData) => boolean) =>
    spans.filter(test).length;
  const lookups = spans.map((span) => attributeText(span, "app.cache.result"))
    .filter((result) => result !== undefined);
  const found = new Map<string, PanelFinding>();
  for (const id of traces.keys()) {
    for (const finding of findings.of(id)) {
      const { rule, message, location } = finding;
      found.set(`${rule} ${message} ${location}`, panelFinding(finding));
    }
  }
  return {
    /** The page's trace. `undefined` if it isn't kept. */
    traceId: page?.id,
    /** The duration of the page's trace, in milliseconds. */
    duration: page?.duration ?? 0,
    /** The number of requests that servers received. */
    requests: count(isReceivedRequest),
    /** The number of queries. */
    queries: count(isQuery),
    /** The number of cache look-ups that found a value. */
    cacheHits: lookups.filter((result) => result !== "miss").length,
    /** The number of cache look-ups. */
    cacheLookups: lookups.length,
    /** The number of failed spans. */
    errors: count((span) => span.status !== "ok" && !isOpenSpan(span)),
    /** The findings, without duplicates. */
    findings: [...found.values()].slice(0, MAX_FINDINGS),
  };
}

function panelFinding({ message, traceId, spanIds, location }: Finding) {
  // The first span leads to the cause.
  return { message, traceId, spanId: spanIds[0], location };
}
