import { statementOf } from "../../trace/export/attributes.ts";
import { percentileOf } from "../../trace/export/percentile.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import type { SpanData } from "../../trace/types.ts";
import { countText, durationText } from "../texts.ts";
import { findingText } from "./cause_tools.ts";
import {
  failureOf,
  isFailed,
  isPresent,
  queriesOf,
  type RequestRecord,
  requestsOf,
} from "./requests.ts";
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

/** Counts, the latest error and the routes of the present run. */
export const summary: RunTool = ({ tracer, findings }) => {
  const all = requestsOf(tracer);
  const requests = all.filter(isPresent);
  if (all.length === 0) {
    return "No request was traced yet: use the app, and call this again";
  }
  const failed = requests.filter(isFailed);
  const found = findings.list();
  const routes = byRoute(requests);
  return answerOf([
    `This run: ${
      countText(requests.length, "request or job", "requests and jobs")
    } in ${
      countText(routes.length, "route")
    }, ${failed.length} failed. In earlier runs: ${
      countText(
        all.length - requests.length,
        "request or job",
        "requests and jobs",
      )
    }.`,
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
    return `No failed requests${
      route === "" ? "" : ` of ${oneLine(route)}`
    } are kept`;
  }
  return answerOf([
    `${countText(failed.length, "failed request")}, ${
      countText(groups.length, "different one")
    }:`,
    ...listOf(groups, limit, ([text, [latest, ...others]]) => [
      `- ${text}`,
      `  ${agoText(latest!.root.startTime)}${
        others.length > 0 ? `, ${others.length + 1} times` : ""
      }${isPresent(latest!) ? "" : ", in an earlier run"}, get_trace id ${
        latest!.root.traceId
      }`,
    ], "pass limit or route"),
  ]);
};

/** Routes by their median duration. */
export const slowRoutes: RunTool = ({ tracer }, { route = "", limit = 10 }) => {
  const routes = byRoute(
    requestsOf(tracer).filter((request) =>
      isPresent(request) && request.route.includes(route)
    ),
  );
  if (routes.length === 0) {
    return `No requests${
      route === "" ? "" : ` of ${oneLine(route)}`
    } were traced in this run: call summary for the routes`;
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
  const queries = percentileOf(requests.map(queriesOf), 50);
  const failed = requests.filter(isFailed).length;
  const slowest = percentileOf(requests.map(durationOf), 95);
  return `${oneLine(route, 120)}: ${requests.length} ×, median ${
    durationText(median)
  }, p95 ${durationText(slowest)}, ${countText(queries, "query", "queries")}${
    failed > 0 ? `, ${failed} failed` : ""
  }`;
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
  const { route, status } = request;
  const failure = failureOf(request);
  const text = failure === undefined
    ? ""
    : ` ${errorText(failure)}${atLine(failure)}`;
  return `${oneLine(route, 120)}${
    status === undefined ? "" : ` ${status}`
  }${text}`;
}
