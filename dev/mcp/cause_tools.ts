import type { Finding } from "../../trace/finding.ts";
import { countText, durationText } from "../texts.ts";
import type { Comparison } from "../runs/run_history.ts";
import { agoText, answerOf, listOf, oneLine } from "./texts.ts";
import { findTrace } from "./trace_tools.ts";
import { type RunTool, ToolError } from "./tool.ts";

/** Span ids that a finding names. */
const MAX_SPANS = 3;

/** Runs that are named. */
const MAX_RUNS = 5;

/** Causes that the dev command has found. */
export const listFindings: RunTool = (
  { tracer, findings },
  { route = "", rule, id, limit = 10 },
) => {
  const all = id === undefined
    ? findings.list()
    : findings.of(findTrace(tracer, id).id);
  const rules = [...new Set(all.map(({ rule }) => rule))];
  if (rule !== undefined && all.length > 0 && !rules.some((r) => r === rule)) {
    const known = rules.join(", ");
    const received = oneLine(rule, 40);
    throw new ToolError(
      `Cannot list findings: rule must be one of ${known}, received ${received}`,
    );
  }
  const found = all.filter((each) =>
    (rule === undefined || each.rule === rule) &&
    (each.route ?? "").includes(route)
  );
  if (found.length === 0) {
    return "No findings: call slow_routes and recent_errors for what the app did";
  }
  return answerOf([
    `${countText(found.length, "finding")}, the newest first:`,
    ...listOf(found, limit, findingLines, "pass limit, rule or route"),
  ]);
};

/** Returns the message and line of a finding. */
export function findingText({ message, location = "" }: Finding): string {
  return `${oneLine(message)} ${oneLine(location)}`.trimEnd();
}

function findingLines(finding: Finding): string[] {
  const { rule, route, traceId, spanIds, time, count } = finding;
  const where = route === undefined ? "" : `${oneLine(route, 120)}, `;
  const spans = spanIds.slice(0, MAX_SPANS).join(", ");
  return [
    `- ${rule}: ${findingText(finding)}`,
    `  ${where}${countText(count, "trace")}, last ${agoText(time)}`,
    traceId === ""
      ? "  outside of a request"
      : `  get_trace id ${traceId}${spans === "" ? "" : ` (spans ${spans})`}`,
  ];
}

/** Routes that differ between a run and the ones before. */
export const compareRuns: RunTool = async (
  { runs: { list } },
  { run: start, route = "", limit = 10 },
) => {
  const runs = await list();
  if (runs.length < 2) {
    return "No earlier run is kept: save a file under --watch, or start the dev command again, and use the app";
  }
  const starts = runs.slice(0, -1).map(({ start }) => start);
  const run = runs.find((each) => each.start === (start ?? starts[0]));
  if (run === undefined) {
    const known = starts.slice(0, MAX_RUNS).join(", ");
    throw new ToolError(
      `Cannot compare runs: run must be one of ${known}, received ${start}`,
    );
  }
  const compared = run.comparisons.filter((each) => each.route.includes(route));
  const differing = compared.filter(({ verdict }) => verdict !== "same");
  const routes = countText(differing.length, "different route");
  const same = compared.length - differing.length;
  const began = `The run ${run.start} began ${agoText(run.start)}`;
  return answerOf([
    `${began}. Changed before it: ${filesText(run.changed)}.`,
    `Compared with an earlier run: ${routes}, ${same} the same.`,
    ...listOf(differing, limit, comparisonLines, "pass limit or route"),
    ...listOf(
      starts.filter((each) => each !== run.start),
      MAX_RUNS,
      (each) => [`Another run began ${agoText(each)}: pass run ${each}`],
      "the oldest runs were left out",
    ),
  ]);
};

function comparisonLines(
  { route, status, verdict, before, after, previous, changed }: Comparison,
): string[] {
  const queries = `${before.queries} → ${after.queries} queries`;
  const was = durationText(before.duration);
  const is = durationText(after.duration);
  const requests = countText(after.requests, "request");
  const name = `${oneLine(route, 120)} ${status}`;
  const since = `since the run that began ${agoText(previous)}`;
  return [
    `- ${verdict}: ${name}: ${queries}, ${was} → ${is} (${before.requests} and ${requests})`,
    `  ${since}; changed: ${filesText(changed)}`,
    `  get_trace id ${before.traceId} and id ${after.traceId}`,
  ];
}

function filesText(files: readonly string[]): string {
  return oneLine(files.join(", ")) || "no files";
}
