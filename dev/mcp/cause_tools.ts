import type { Finding } from "../../trace/finding.ts";
import { durationText } from "../findings/texts.ts";
import { readFindings, readRuns, type RunComparison } from "./dev_routes.ts";
import { agoText, answerOf, countText, listOf, oneLine } from "./texts.ts";
import { findTrace } from "./trace_tools.ts";
import { type RunTool, ToolError } from "./tool.ts";

/** Span ids that a finding names. */
const MAX_SPANS = 3;

/** Causes that the dev command has found. */
export const findings: RunTool = async (
  tracer,
  { route = "", rule, id, limit = 10 },
) => {
  const trace = id === undefined ? undefined : findTrace(tracer, id);
  const query = trace === undefined ? "" : `?traceId=${trace.id}`;
  const all = await readFindings(tracer, query);
  const rules = [...new Set(all.map(({ rule }) => rule))];
  if (rule !== undefined && all.length > 0 && !rules.some((r) => r === rule)) {
    throw new ToolError(
      `Cannot list findings: rule must be one of ${
        rules.join(", ")
      }, received ${oneLine(rule, 40)}`,
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

function findingLines(finding: Finding): string[] {
  const { rule, message, location, route, traceId, spanIds, time, count } =
    finding;
  const spans = spanIds.slice(0, MAX_SPANS).join(", ");
  return [
    `- ${rule}: ${oneLine(message)}${location ? ` ${oneLine(location)}` : ""}`,
    `  ${route === undefined ? "" : `${oneLine(route, 120)}, `}${
      countText(count, "trace")
    }, last ${agoText(time)}`,
    `  get_trace id ${traceId}${spans === "" ? "" : ` (spans ${spans})`}`,
  ];
}

/** Routes that differ between two runs. */
export const compareRuns: RunTool = async (
  tracer,
  { route = "", limit = 10 },
) => {
  const [present, ...earlier] = await readRuns(tracer);
  if (present === undefined || earlier.length === 0) {
    return "No earlier run is kept: save a file under --watch, or start the dev command again, and use the app";
  }
  const compared = present.comparisons.filter((each) =>
    each.route.includes(route)
  );
  const differing = compared.filter(({ verdict }) => verdict !== "same");
  return answerOf([
    `This run began ${agoText(present.start)}. Changed before it: ${
      oneLine(present.changed.join(", ")) || "no files"
    }.`,
    `Of the routes used in both runs, ${differing.length} differ and ${
      compared.length - differing.length
    } are the same.`,
    ...listOf(differing, limit, comparisonLines, "pass limit or route"),
  ]);
};

function comparisonLines(
  { route, status, verdict, before, after, previous, changed }: RunComparison,
): string[] {
  return [
    `- ${verdict}: ${
      oneLine(route, 120)
    } ${status}: ${before.queries} → ${after.queries} queries, ${
      durationText(before.duration)
    } → ${durationText(after.duration)} (${before.requests} and ${
      countText(after.requests, "request")
    })`,
    `  since the run that began ${agoText(previous)}; changed: ${
      oneLine(changed.join(", ")) || "no files"
    }`,
    `  get_trace id ${before.traceId} and id ${after.traceId}`,
  ];
}
