/**
 * What the panel shows of a page: figures of its traces, and their findings.
 *
 * @module
 */

import {
  attributeText,
  methodOf,
  statementOf,
} from "../../trace/export/attributes.ts";
import { isClientSpan, isOpenSpan } from "../../trace/export/semantics.ts";
import type { Finding } from "../../trace/finding.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";

/** The findings of the dev command. */
export interface FindingSource {
  /** Returns the findings of a trace. */
  of(traceId: string): readonly Finding[];
  /** Calls a listener with each new cause. Returns how to stop that. */
  subscribe(listener: (finding: Finding) => void): () => void;
}

/** A finding, as the panel shows it. */
export type PanelFinding = Pick<
  Finding,
  "rule" | "message" | "location" | "traceId" | "spanIds"
>;

/** The state of a page. */
export interface PanelState {
  /** The page's trace. Absent if it isn't kept. */
  readonly traceId?: string;
  /** The duration of the page's trace, in milliseconds. */
  readonly duration: number;
  /** The number of requests that servers received. */
  readonly requests: number;
  /** The number of statements. */
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
  findings: Pick<FindingSource, "of"> | undefined,
): PanelState {
  const [id] = ids;
  const page = id === undefined ? undefined : tracer.getTrace(id);
  const traces = new Map<string, TraceData>();
  for (const id of ids) {
    const trace = tracer.getTrace(id);
    if (trace !== undefined) traces.set(trace.id, trace);
  }
  const spans = [...traces.values()].flatMap((
    { spans },
  ) => [...spans.values()]);
  const count = (test: (span: SpanData) => boolean) =>
    spans.filter(test).length;
  const lookups = spans.map((span) => attributeText(span, "app.cache.result"))
    .filter((result) => result !== undefined);
  const found = new Map<string, PanelFinding>();
  // A joined trace has the findings of all its requests.
  for (const id of new Set([...ids, ...traces.keys()])) {
    for (const finding of findings?.of(id) ?? []) {
      const { rule, message, location, traceId, spanIds } = finding;
      found.set(`${rule} ${message} ${location}`, {
        rule,
        message,
        traceId,
        spanIds,
        ...(location !== undefined && { location }),
      });
    }
  }
  return {
    ...(page !== undefined && { traceId: page.id }),
    duration: page?.duration ?? 0,
    requests: count(isReceived),
    queries: count((span) => statementOf(span) !== undefined),
    cacheHits: lookups.filter((result) => result !== "miss").length,
    cacheLookups: lookups.length,
    errors: count((span) => span.status !== "ok" && !isOpenSpan(span)),
    findings: [...found.values()].slice(0, MAX_FINDINGS),
  };
}

/** Whether a server received this request. */
function isReceived(span: SpanData): boolean {
  return span.layer === "request" && methodOf(span) !== undefined &&
    !isClientSpan(span) && !Object.hasOwn(span.attributes, "url.full");
}
