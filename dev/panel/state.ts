/**
 * The state of a page in the panel: figures of its traces, and their findings.
 *
 * @module
 */

import { attributeText, isQuery } from "../../trace/export/attributes.ts";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import type { Finding } from "../../trace/finding.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";
import type { Findings } from "../findings/findings.ts";
import { isReceivedRequest } from "../findings/units.ts";

/** A finding, as the panel shows it. */
export interface PanelFinding
  extends Pick<Finding, "message" | "location" | "traceId"> {
  /** The span that leads to the cause. */
  readonly spanId?: string;
}

/** The state of a page. */
export interface PanelState {
  /** The page's trace. Absent if it isn't kept. */
  readonly traceId?: string;
  /** The duration of the page's trace, in milliseconds. */
  readonly duration: number;
  /** The number of requests that servers received. */
  readonly requests: number;
  /** The number of queries. */
  readonly queries: number;
  /** The number of cache look-ups that found a value. */
  readonly cacheHits: number;
  /** The number of cache look-ups. */
  readonly cacheLookups: number;
  /** The number of failed spans. */
  readonly errors: number;
  /** The findings, without duplicates. */
  readonly findings: readonly PanelFinding[];
}

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
): PanelState {
  const kept = ids.map((id) => tracer.getTrace(id));
  const [page] = kept;
  // Several requests may have become one trace.
  const traces = new Map<string, TraceData>();
  for (const trace of kept) if (trace) traces.set(trace.id, trace);
  const spans = Array.from(traces.values(), ({ spans }) => [...spans.values()])
    .flat();
  const count = (test: (span: SpanData) => boolean) =>
    spans.filter(test).length;
  const lookups = spans.map((span) => attributeText(span, "app.cache.result"))
    .filter((result) => result !== undefined);
  const found = new Map<string, PanelFinding>();
  for (const id of traces.keys()) {
    for (const finding of findings.of(id)) {
      const { rule, message, location, traceId, spanIds } = finding;
      const [spanId] = spanIds;
      found.set(`${rule} ${message} ${location}`, {
        message,
        traceId,
        ...(spanId !== undefined && { spanId }),
        ...(location !== undefined && { location }),
      });
    }
  }
  return {
    ...(page !== undefined && { traceId: page.id }),
    duration: page?.duration ?? 0,
    requests: count(isReceivedRequest),
    queries: count(isQuery),
    cacheHits: lookups.filter((result) => result !== "miss").length,
    cacheLookups: lookups.length,
    errors: count((span) => span.status !== "ok" && !isOpenSpan(span)),
    findings: [...found.values()].slice(0, MAX_FINDINGS),
  };
}
