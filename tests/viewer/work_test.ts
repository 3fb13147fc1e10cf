import { assertEquals } from "@std/assert";
import { failedSpans } from "../../viewer/model/errors.ts";
import { clocksOf } from "../../viewer/model/clock.ts";
import { buildTree } from "../../viewer/model/tree.ts";
import { listWork, longestRepeats } from "../../viewer/model/work.ts";
import { query, type Sketch, span, trace } from "./make_trace.ts";

function workOf(...below: Sketch[]) {
  return listWork(buildTree(trace(span("root", 0, 1000, below))));
}

function call(
  method: string,
  start: number,
  end: number,
  below: Sketch[] = [],
) {
  return span("rpc", start, end, below, {
    layer: "rpc",
    attributes: { "rpc.method": method },
  });
}

Deno.test("listWork() adds up a statement over the whole trace", () => {
  const work = workOf(
    span("a", 0, 500, [
      query("SELECT * FROM user WHERE id = 1", 10, 12),
      query("SELECT * FROM user WHERE id = 2", 12, 22),
    ]),
    span("b", 500, 900, [
      query("SELECT * FROM user\n WHERE id = 3", 500, 503),
      query("COMMIT", 503, 504),
    ]),
  );
  assertEquals(
    work.map(({ kind, name, count, total, median, longest }) => [
      kind,
      name,
      count,
      total,
      median,
      longest,
    ]),
    [
      ["statement", "SELECT * FROM user WHERE id = ?", 3, 15, 3, 10],
      ["statement", "COMMIT", 1, 1, 1, 1],
    ],
  );
  assertEquals(
    work[0]?.nodes.map(({ span }) => span.id),
    ["db.query", "db.query#2", "db.query#3"],
  );
});

Deno.test("listWork() knows cache keys, procedures and fetched paths", () => {
  const client = { "app.origin": "client", "http.request.method": "GET" };
  const work = workOf(
    span("cache.get", 0, 5, [], { attributes: { "app.cache.key": "user:1" } }),
    span("cache.get", 5, 9, []),
    call("stock.level", 10, 13, [call("stock.level", 11, 12)]),
    span("fetch GET /a", 20, 22, [], {
      attributes: { ...client, "url.full": "http://localhost:8000/a?b=c" },
    }),
    span("fetch GET /a", 22, 23, [], {
      attributes: {
        "http.request.method": "GET",
        "url.full": "http://b.example/a",
      },
    }),
    span("GET /a", 0, 1, [], {
      layer: "request",
      attributes: { "http.request.method": "GET", "url.path": "/a" },
    }),
  );
  assertEquals(work.map(({ id, count }) => [id, count]), [
    ["cache:user:1", 1],
    ["cache:cache.get", 1],
    ["procedure:stock.level", 1],
    ["fetch:GET /a", 1],
    ["fetch:GET b.example/a", 1],
  ]);
});

Deno.test("longestRepeats() has the longest statement and the longest call", () => {
  const times = [0, 1, 2];
  const work = workOf(
    ...times.map((i) => query("SELECT a", i, i + 1)),
    ...times.map((i) => query("SELECT b", i * 10, i * 10 + 4)),
    ...times.map((i) => call("stock.level", i * 10, i * 10 + 9)),
    call("stock.once", 0, 900),
  );
  assertEquals(longestRepeats(work).map(({ id, count }) => [id, count]), [
    ["statement:SELECT b", 3],
    ["procedure:stock.level", 3],
  ]);
  assertEquals(longestRepeats(workOf(query("SELECT a", 0, 1))), []);
});

function thrown(time: number) {
  return {
    status: "error",
    events: [{ name: "exception", time }],
  } as const;
}

Deno.test("failedSpans() begins with the spans that threw, in order of time", () => {
  const tree = buildTree(trace(span("root", 0, 100, [
    span("marked", 1, 2, [], { status: "error" }),
    span(
      "late",
      3,
      90,
      [span("late query", 4, 80, [], thrown(70))],
      thrown(80),
    ),
    span("early", 5, 60, [], thrown(20)),
  ], { status: "error" })));
  assertEquals(
    failedSpans(tree).map((index) => tree.nodes[index]!.span.id),
    ["early", "late query", "marked", "late", "root"],
  );
});

const browser = { "app.origin": "client" };

function clocks(error: number, wait: number, shift?: number) {
  return clocksOf(buildTree(trace(span("page", 0, 100, [
    span("fetch", 10, 60, [
      span("server", 10 + wait, 50, [], {
        attributes: shift === undefined ? {} : {
          "service.name": "stock",
          "app.clock.shift": shift,
        },
      }),
    ], { attributes: browser }),
  ], { attributes: { ...browser, "app.clock.error": error } }))));
}

Deno.test("clocksOf() reports an error that matters", () => {
  assertEquals(clocks(0.5, 5).error, undefined);
  assertEquals(clocks(2, 5).error, 2);
  assertEquals(clocks(0.5, 0.2).error, 0.5);
});

Deno.test("clocksOf() reports moved processes", () => {
  assertEquals(
    clocks(0, 5, -3).shifts.map(({ process, shift }) => [process, shift]),
    [["stock", -3]],
  );
});
