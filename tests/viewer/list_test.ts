import { assert, assertEquals } from "@std/assert";
import { packTraces, unpackTraces } from "../../trace/export/pack.ts";
import {
  countFilters,
  createFilter,
  type Filters,
  NO_FILTERS,
  routeKey,
} from "../../viewer/model/filters.ts";
import {
  NEWEST_FIRST,
  nextOrder,
  routeStats,
  sortEntries,
  sortRoutes,
} from "../../viewer/model/listing.ts";
import { percentile } from "../../trace/export/percentile.ts";
import {
  summarize,
  summarizePacked,
  type TraceEntry,
} from "../../viewer/model/summary.ts";
import { span, trace } from "./make_trace.ts";
import { sampleTraces } from "./sample_traces.ts";

function entry(change: Partial<TraceEntry>): TraceEntry {
  return {
    ...summarize(trace(span("job", 0, 10))),
    kind: change.method ?? "GET",
    method: "GET",
    path: "/Orders/7",
    route: "/orders/:id",
    statusCode: 200,
    ...change,
  };
}

function accepts(filters: Partial<Filters>, change: Partial<TraceEntry> = {}) {
  return createFilter({ ...NO_FILTERS, ...filters })(entry(change));
}

Deno.test("summarize() adds up self time per layer, in descending order", () => {
  const made = trace(span("root", 0, 10, [
    span("a", 1, 3, [], { layer: "database" }),
    span("b", 4, 5, [], { layer: "auth", status: "error" }),
  ], { layer: "request" }));
  const { layers, errorCount, spanCount, key } = summarize(made);
  assertEquals(layers, [["request", 7], ["database", 2], ["auth", 1]]);
  assertEquals([errorCount, spanCount, key], [1, 3, "t"]);
});

Deno.test("summarize() distinguishes calls to one address", () => {
  const pathOf = (routePattern?: string) =>
    summarize(trace(span("POST /api/rpc", 0, 10), {
      pathname: "/api/rpc",
      ...(routePattern ? { routePattern } : {}),
    })).path;
  assertEquals(pathOf("/api/rpc/notes.add"), "/api/rpc/notes.add");
  assertEquals(pathOf("/api/:any"), "/api/rpc");
  assertEquals(pathOf(), "/api/rpc");
});

Deno.test("summarizePacked() returns the same as summarize()", async () => {
  const traces = sampleTraces({ count: 60, seed: 4 });
  const packed = summarizePacked(await unpackTraces(await packTraces(traces)));
  for (const [i, made] of traces.entries()) {
    const { load: _, layers, ...rest } = summarize(made);
    const { load, layers: packedLayers, ...packedRest } = packed[i]!;
    assertEquals(packedRest, rest);
    assertEquals(packedLayers.map(([layer]) => layer), layers.map(([l]) => l));
    for (const [j, [, time]] of layers.entries()) {
      assert(Math.abs(packedLayers[j]![1] - time) < 0.01);
    }
    assertEquals(load(), made);
  }
});

Deno.test("createFilter() accepts everything if no filter is set", () => {
  assert(accepts({}));
  assertEquals(countFilters(NO_FILTERS), 0);
});

Deno.test("createFilter() filters by each property", () => {
  assert(accepts({ method: "GET" }));
  assert(!accepts({ method: "POST" }));
  assert(accepts({ statusClasses: [2, 5] }));
  assert(!accepts({ statusClasses: [4] }));
  assert(accepts({ path: "oRDers" }));
  assert(!accepts({ path: "users" }));
  assert(accepts({ layer: "custom" }));
  assert(!accepts({ layer: "rpc" }));
  assert(accepts({ minDuration: 10 }));
  assert(!accepts({ minDuration: 10.5 }));
  assert(accepts({ route: "GET /orders/:id" }));
  assert(!accepts({ route: "GET /Orders/7" }));
});

Deno.test("createFilter() treats failed spans and 5xx as errors, but not 4xx", () => {
  assert(!accepts({ errorsOnly: true }));
  assert(!accepts({ errorsOnly: true }, { statusCode: 404 }));
  assert(accepts({ errorsOnly: true }, { statusCode: 503 }));
  assert(accepts({ errorsOnly: true }, { errorCount: 1 }));
});

Deno.test("sortEntries() orders equal entries by time, newest first", () => {
  const list = [
    entry({ key: "a", duration: 5, startTime: 1 }),
    entry({ key: "b", duration: 9, startTime: 2 }),
    entry({ key: "c", duration: 5, startTime: 3 }),
  ];
  const keys = (order: Parameters<typeof sortEntries>[1]) =>
    sortEntries(list, order).map(({ key }) => key).join("");
  assertEquals(keys(NEWEST_FIRST), "cba");
  assertEquals(keys({ column: "duration", descending: true }), "bca");
  assertEquals(keys({ column: "duration", descending: false }), "cab");
});

Deno.test("nextOrder() reverses the order, and starts with the most useful one", () => {
  const byDuration = nextOrder(NEWEST_FIRST, "duration");
  assertEquals(byDuration, { column: "duration", descending: true });
  assertEquals(nextOrder(byDuration, "duration").descending, false);
  assertEquals(nextOrder(byDuration, "path").descending, false);
});

Deno.test("percentile() returns a measured value by nearest rank", () => {
  const hundred = Array.from({ length: 100 }, (_, i) => i + 1);
  assertEquals(percentile(hundred, 50), 50);
  assertEquals(percentile(hundred, 95), 95);
  assertEquals(percentile(hundred, 99), 99);
  assertEquals(percentile([7], 99), 7);
  assertEquals(percentile([1, 2, 3], 50), 2);
  assertEquals(percentile([], 50), 0);
});

Deno.test("routeStats() keeps methods and routes apart", () => {
  const stats = routeStats([
    entry({ duration: 1 }),
    entry({ duration: 3, statusCode: 500 }),
    entry({ duration: 2, method: "POST" }),
    entry({ route: "", path: "/lost" }),
    entry({ pending: true }),
  ]);
  assertEquals(
    stats.map(({ key, count, p50, max, errorRate }) =>
      [key, count, p50, max, errorRate] as const
    ),
    [
      ["GET /orders/:id", 2, 1, 3, 0.5],
      ["POST /orders/:id", 1, 2, 2, 0],
      ["GET /lost", 1, 10, 10, 0],
    ],
  );
});

Deno.test("sortRoutes() orders by any column", () => {
  const stats = routeStats([
    entry({ duration: 1 }),
    entry({ duration: 9, method: "POST" }),
  ]);
  const first = (column: "p95" | "route", descending: boolean) =>
    sortRoutes(stats, { column, descending })[0]!.key;
  assertEquals(first("p95", true), "POST /orders/:id");
  assertEquals(first("p95", false), "GET /orders/:id");
  assertEquals(first("route", false), "GET /orders/:id");
});

Deno.test("routeKey() returns the name of a trace that isn't a request", () => {
  assertEquals(routeKey(summarize(trace(span("job", 0, 1)))), "job");
});
