import { printable } from "../../core/redact/printable.ts";
import { isQuery, statementOf } from "../../trace/export/attributes.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import type { Finding } from "../../trace/finding.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";
import { shortLocation } from "../locations/short_location.ts";
import type { Comparison } from "./run_history.ts";

/** Returns file names in words: `a.ts`, `a.ts and b.ts`, `a.ts and 2 others`. */
function filesText([first = "", ...others]: readonly string[]): string {
  if (others.length === 0) return first;
  const rest = others.length === 1 ? others[0] : `${others.length} others`;
  return `${first} and ${rest}`;
}

/**
 * Returns a function that reports each route once: a slower one as a finding,
 * and a faster one as a line in the terminal.
 */
export function reporterOf(
  tracer: Tracer,
  onSlower: (finding: Finding) => void,
): (comparison: Comparison) => void {
  const reported = new Set<string>();
  return (comparison) => {
    const { verdict, route, status, after, before, changed } = comparison;
    const key = `${status} ${route}`;
    if (verdict === "same" || reported.has(key)) return;
    reported.add(key);
    const cause = `since you saved ${filesText(changed)}`;
    const message = printable(`${route}: ${comparison.difference} ${cause}`);
    // Indented like a finding. A request's line begins with its method, too.
    if (verdict === "faster") return console.log(`   ${message}`);
    const trace = tracer.getTrace(after.traceId);
    const spans = evidenceIn(trace, tracer.getTrace(before.traceId));
    const location = spans[0] && shortLocation(spans[0]);
    onSlower({
      rule: "slower-route",
      message,
      ...(location !== undefined && { location }),
      route,
      traceId: after.traceId,
      spanIds: spans.map(({ id }) => id),
      time: trace?.endTime ?? Date.now(),
      count: after.requests,
    });
  };
}

/**
 * Returns the spans of the statement that runs more often than before by most,
 * or else the root span.
 */
function evidenceIn(
  after: TraceData | undefined,
  before: TraceData | undefined,
): SpanData[] {
  const old = byStatement(before);
  const added = [...byStatement(after)].map(([shape, spans]) => ({
    spans,
    count: spans.length - (old.get(shape)?.length ?? 0),
  })).sort((a, b) => b.count - a.count);
  const [most] = added;
  if (most !== undefined && most.count > 0) return most.spans;
  const root = after?.spans.get(after.rootSpanId);
  return root === undefined ? [] : [root];
}

function byStatement(trace: TraceData | undefined): Map<string, SpanData[]> {
  return Map.groupBy(
    [...trace?.spans.values() ?? []].filter(isQuery),
    (span) => statementShape(statementOf(span) ?? span.name),
  );
}
