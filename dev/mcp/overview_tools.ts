import {
  exceptionOf,
  isQuery,
  statementOf,
} from "../../trace/export/attributes.ts";
import { percentileOf } from "../../trace/export/percentile.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";
import { type Unit, unitsOf } from "../findings/units.ts";
import { countText, durationText } from "../texts.ts";
import { findingText } from "./cause_tools.ts";
import {
  agoText,
  answerOf,
  atLine,
  errorText,
  listOf,
  oneLine,
} from "./texts.ts";
import type { RunTool } from "./tool.ts";

/** Routes that the summary lists. */
const SUMMARY_ROUTES = 15;
/** Steps that a slow route lists. */
const STEPS = 3;

/** A request or job, with its trace. */
interface RequestRecord extends Unit {
  readonly trace: TraceData;
}

/** Counts, the latest error and the routes of the present run. */
export const summary: RunTool = ({ tracer, findings }) => {
  const all = requestsOf(tracer);
  if (all.length === 0) {
    return "No request was traced yet: use the app, and call this again";
  }
  const requests = all.filter(isPresent);
  const failed = requests.filter(isFailed);
  const found = findings.list();
  const routes = byRoute(requests);
  const present = requestsText(requests.length);
  const earlier = requestsText(all.length - requests.length);
  const routeCount = countText(routes.length, "route");
  return answerOf([
    `This run: ${present} in ${routeCount}, ${failed.length} failed. In earlier runs: ${earlier}.`,
    found.length === 0
      ? "No findings."
      : `${countText(found.length, "finding")}: call findings. The latest: ${
        findingText(found[0]!)
      }`,
    failed.length === 0
      ? "No errors."
      : `The latest error: ${failureText(failed[0]!)}. Call recent_errors.`,
    "Routes by median duration:",
    ...listOf(
      routes,
      SUMMARY_ROUTES,
      (route) => [`  ${routeText(route)}`],
      "call slow_routes",
    ),
  ]);
};

function requestsText(count: number): string {
  return countText(count, "request or job", "requests and jobs");
}

/** Failed requests. */
export const recentErrors: RunTool = (
  { tracer },
  { route = "", limit = 10 },
) => {
  const failed = requestsOf(tracer).filter((request) =>
    request.route.includes(route) && isFailed(request)
  );
  const groups = [...Map.groupBy(failed, failureText)];
  if (groups.length === 0) {
    return `No failed requests${ofRoute(route)} are kept`;
  }
  const different = countText(groups.length, "different one");
  return answerOf([
    `${countText(failed.length, "failed request")}, ${different}:`,
    ...listOf(
      groups,
      limit,
      ([text, requests]) => [`- ${text}`, `  ${occurrences(requests)}`],
      "pass limit or route",
    ),
  ]);
};

/** Returns the last time of a failure, the number of times, and a trace. */
function occurrences(requests: readonly RequestRecord[]): string {
  const [latest] = requests as [RequestRecord];
  const { startTime, traceId } = latest.root;
  return [
    agoText(startTime),
    requests.length > 1 ? `${requests.length} times` : "",
    isPresent(latest) ? "" : "in an earlier run",
    `get_trace id ${traceId}`,
  ].filter((part) => part !== "").join(", ");
}

/** Routes by their median duration. */
export const slowRoutes: RunTool = ({ tracer }, { route = "", limit = 10 }) => {
  const routes = byRoute(
    requestsOf(tracer).filter((request) =>
      isPresent(request) && request.route.includes(route)
    ),
  );
  if (routes.length === 0) {
    const what = `requests${ofRoute(route)}`;
    return `No ${what} were traced in this run: call summary for the routes`;
  }
  return answerOf([
    `${countText(routes.length, "route")}, the slowest first:`,
    ...listOf(routes, limit, (each) => {
      const slowest = each.requests.reduce((a, b) =>
        durationOf(a) >= durationOf(b) ? a : b
      );
      return [
        `- ${routeText(each)}`,
        ...stepsOf(slowest).map((text) => `  ${text}`),
        `  slowest: get_trace id ${slowest.root.traceId}`,
      ];
    }, "pass limit or route"),
  ]);
};

function ofRoute(route: string): string {
  return route === "" ? "" : ` of ${oneLine(route)}`;
}

/** The requests of a route. */
interface RouteGroup {
  readonly route: string;
  readonly requests: readonly RequestRecord[];
  readonly median: number;
}

/** Returns the routes, the slowest first. */
function byRoute(requests: readonly RequestRecord[]): RouteGroup[] {
  return [...Map.groupBy(requests, ({ route }) => route)]
    .map(([route, requests]) => ({
      route,
      requests,
      median: percentileOf(requests.map(durationOf), 50),
    }))
    .sort((a, b) => b.median - a.median);
}

function routeText({ route, requests, median }: RouteGroup): string {
  const failed = requests.filter(isFailed).length;
  const counts = requests.map(({ spans }) => spans.filter(isQuery).length);
  const queries = percentileOf(counts, 50);
  const slowest = durationText(percentileOf(requests.map(durationOf), 95));
  const times = `median ${durationText(median)}, p95 ${slowest}`;
  const work = countText(queries, "query", "queries");
  const failures = failed > 0 ? `, ${failed} failed` : "";
  const name = oneLine(route, 120);
  return `${name}: ${requests.length} ×, ${times}, ${work}${failures}`;
}

function durationOf({ root }: RequestRecord): number {
  return root.duration;
}

/** Returns the steps of a request that took the most time in total. */
function stepsOf({ spans }: RequestRecord): string[] {
  const leaves = spans.filter(({ children }) => children.length === 0);
  return [...Map.groupBy(leaves, stepText)]
    .map(([text, spans]) => ({
      text,
      count: spans.length,
      duration: spans.reduce((sum, { duration }) => sum + duration, 0),
    }))
    .sort((a, b) => b.duration - a.duration)
    .slice(0, STEPS)
    .map(({ text, count, duration }) =>
      `${durationText(duration)} in ${count} × ${text}`
    );
}

function stepText(span: SpanData): string {
  const statement = statementOf(span);
  const text = statement === undefined ? span.name : statementShape(statement);
  return `${oneLine(text, 160)}${atLine(span)}`;
}

function failureText(request: RequestRecord): string {
  const { route, status = "" } = request;
  const title = `${oneLine(route, 120)} ${status}`.trimEnd();
  const failure = failureOf(request);
  return failure === undefined
    ? title
    : `${title} ${errorText(failure)}${atLine(failure)}`;
}

/** Returns the ended requests and jobs of a tracer, the latest first. */
function requestsOf(tracer: Tracer): RequestRecord[] {
  return tracer.getTraces()
    .flatMap((trace) => unitsOf(trace).map((unit) => ({ ...unit, trace })))
    .sort((a, b) => b.root.startTime - a.root.startTime);
}

/** Whether a request or job belongs to the present run. */
function isPresent({ trace }: RequestRecord): boolean {
  return trace.metadata.run === undefined;
}

/** Whether a request or job failed. */
function isFailed({ root, status = 0, spans }: RequestRecord): boolean {
  return status >= 500 || [root, ...spans].some(isFailedSpan);
}

function isFailedSpan({ status }: SpanData): boolean {
  return status === "error";
}

/** Returns the span that recorded the first exception of a request. */
function failureOf({ root, spans }: RequestRecord): SpanData | undefined {
  return [root, ...spans].find((each) => exceptionOf(each) !== undefined) ??
    [...spans, root].find(isFailedSpan);
}
