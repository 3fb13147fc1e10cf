import { routeKeyOf } from "../../trace/export/route_key.ts";
import type { TraceData, Tracer } from "../../trace/types.ts";
import { countText, durationText } from "../texts.ts";
import { agoText, answerOf, atLine, listOf, oneLine } from "./texts.ts";
import { logLine, logsOf, traceLines } from "./trace_text.ts";
import { type RunTool, ToolError } from "./tool.ts";

/** All steps of a trace. */
export const getTrace: RunTool = (
  { tracer },
  { id = "", span, lines = 80 },
) => {
  const trace = findTrace(tracer, id);
  const from = trace.spans.get(span ?? trace.rootSpanId);
  if (from === undefined) {
    const received = oneLine(span!, 40);
    throw new ToolError(
      `Cannot get trace: span must be an id that follows a # in this trace, received ${received}`,
    );
  }
  const spans = countText(trace.spans.size, "span");
  const { run } = trace.metadata;
  const began = run === undefined
    ? ""
    : `, in an earlier run (${agoText(run)})`;
  const times = `${durationText(trace.duration)}, ${agoText(trace.startTime)}`;
  return answerOf([
    `trace ${trace.id}: ${spans}, ${times}${began}`,
    ...traceLines(trace, from, lines),
  ]);
};

/** The severities of logs, the least first. */
export const SEVERITIES: readonly string[] = ["debug", "info", "warn", "error"];

/** The logs of a trace. */
export const getLogs: RunTool = (
  { tracer },
  { id = "", severity = "debug", contains = "", limit = 50 },
) => {
  const trace = findTrace(tracer, id);
  const least = SEVERITIES.indexOf(severity);
  const logs = [...trace.spans.values()]
    .flatMap((span) => logsOf(span).map((event) => ({ span, event })))
    .sort((a, b) => a.event.time - b.event.time);
  const wanted = logs.filter(({ event: { attributes = {} } }) =>
    levelOf(String(attributes["log.severity"])) >= least &&
    String(attributes["log.body"]).includes(contains)
  );
  const root = trace.spans.get(trace.rootSpanId)!;
  const name = oneLine(routeKeyOf(root) ?? root.name);
  const title = `${countText(wanted.length, "log")} of ${name}`;
  if (logs.length === 0) {
    return `${title}: this trace has none. console.* is recorded while a request is handled`;
  }
  return answerOf([
    wanted.length === logs.length ? title : `${title}, of ${logs.length}`,
    ...listOf(wanted, limit, ({ span, event }) => {
      const time = durationText(event.time - trace.startTime);
      const place = `${oneLine(span.name, 80)}${atLine(span)}`;
      return [`+${time} ${logLine(event, 500)} (${place})`];
    }, "pass limit, severity or contains"),
  ]);
};

/** Returns the level of a severity, also of other libraries. */
function levelOf(severity: string): number {
  const level = SEVERITIES.findIndex((name) =>
    severity.toLowerCase().startsWith(name)
  );
  if (level !== -1) return level;
  return /^(?:fatal|critical)/i.test(severity) ? 3 : 1;
}

/** Returns a trace. */
export function findTrace(tracer: Tracer, id: string): TraceData {
  const trace = tracer.getTrace(id.trim().toLowerCase());
  if (trace !== undefined) return trace;
  const received = oneLine(id, 40);
  throw new ToolError(
    `Cannot find trace: id must be a trace id from summary, recent_errors, slow_routes or findings, received ${received}`,
  );
}
