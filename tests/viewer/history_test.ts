import { assertEquals } from "@std/assert";
import type { SerializedTrace } from "../../trace/types.ts";
import {
  MIN_HISTORY,
  routeHistories,
  spanHistory,
  timesOf,
} from "../../viewer/model/history.ts";
import { compareRoutes, spansOfRoute } from "../../viewer/model/route_spans.ts";
import { summarize } from "../../viewer/model/summary.ts";
import { query, span, trace } from "./make_trace.ts";

/** Creates a job that takes some milliseconds. */
function job(duration: number, name = "job"): SerializedTrace {
  return trace(span(name, 0, duration, [span("step", 0, duration / 2)]));
}

/** Returns the history of the spans of traces. */
function historyOf(...traces: SerializedTrace[]) {
  const history = spanHistory();
  for (const trace of traces) history.add(trace);
  return history;
}

/** Describes the request of a path. */
function request(path: string, below: Parameters<typeof span>[3] = []) {
  return span(`GET ${path}`, 0, 10, below, {
    layer: "request",
    attributes: { "http.request.method": "GET", "url.path": path },
  });
}

Deno.test("percentileOf() returns the share that is shorter", () => {
  const { count, durations, percentileOf } = timesOf([30, 10, 20, 20]);
  assertEquals([count, ...durations], [4, 10, 20, 20, 30]);
  assertEquals([5, 20, 25, 99].map(percentileOf), [0, 0.25, 0.75, 1]);
  assertEquals(timesOf([]).percentileOf(1), 0);
});

Deno.test("routeHistories() needs enough traces of a route", () => {
  const few = Array.from({ length: MIN_HISTORY }, () => summarize(job(10)));
  assertEquals(routeHistories(few), new Map());
  const slow = summarize(job(100));
  const history = routeHistories([...few, slow]).get("job")!;
  assertEquals([history.limit, history.count], [20, MIN_HISTORY + 1]);
  assertEquals(history.percentileOf(100), MIN_HISTORY / (MIN_HISTORY + 1));
  const others = summarize(job(1, "other"));
  assertEquals(routeHistories([...few, slow, others]).size, 1);
});

Deno.test("The limit of a slow trace is at least the 95th percentile", () => {
  // A tenth takes five times as long, so that isn't unusual.
  const entries = Array.from(
    { length: 100 },
    (_, i) => summarize(job(i % 10 === 0 ? 50 : 10)),
  );
  assertEquals(routeHistories(entries).get("job")?.limit, 50);
});

Deno.test("routeHistories() leaves out traces that still run", () => {
  const running = { ...summarize(job(10)), running: true };
  assertEquals(routeHistories(Array(50).fill(running)), new Map());
});

Deno.test("spanHistory() collects spans by name and layer", () => {
  const root = trace(query("SELECT 1", 0, 4));
  const other = trace(span("step", 0, 1, [], { layer: "rpc" }));
  const all = historyOf(job(10), job(30), root, other).all();
  assertEquals(all.map(({ layer, name }) => `${layer} ${name}`), [
    "custom job",
    "custom step",
    "database db.query",
    "rpc step",
  ]);
  const [jobs, steps] = all;
  assertEquals([...steps!.durations], [5, 15]);
  assertEquals(steps!.percentileOf(10), 0.5);
  assertEquals([...jobs!.self], [5, 15]);
});

Deno.test("spansOfRoute() returns the request and the spans below it", () => {
  const page = trace(
    span("page:load", 0, 100, [
      request("/a", [query("SELECT 1", 1, 2), span("deep", 3, 4)]),
      request("/b", [query("SELECT 2", 1, 2)]),
    ]),
  );
  const names = (key: string) =>
    spansOfRoute(page, key).map(({ name }) => name);
  assertEquals(names("GET /a"), ["GET /a", "db.query", "deep"]);
  assertEquals(names("GET /b"), ["GET /b", "db.query"]);
  assertEquals(names("page /"), page.spans.map(({ name }) => name));
});

Deno.test("compareRoutes() lists spans of both routes by their self time", () => {
  const a = historyOf(job(10), job(20));
  const b = historyOf(trace(span("job", 0, 100, [
    span("step", 0, 5),
    query("SELECT 1", 5, 90),
    query("SELECT 1", 90, 95),
  ])));
  const left = { runs: 2, history: a };
  const rows = compareRoutes(left, { runs: 1, history: b });
  assertEquals(rows.map(({ name }) => name), ["db.query", "job", "step"]);
  const [queries, root, step] = rows;
  assertEquals(queries!.a, undefined);
  assertEquals(queries!.b, { perRun: 2, p50: 5, p95: 85, self: 5 });
  assertEquals([step!.a!.p50, step!.a!.p95, step!.b!.p50], [5, 10, 5]);
  assertEquals(root!.a!.perRun, 1);
  assertEquals(compareRoutes(left).map(({ b }) => b), [
    undefined,
    undefined,
  ]);
});
