import { assertEquals } from "@std/assert";
import { selfTimes } from "../../../trace/export/self_time.ts";
import { indexTrace } from "../../../trace/export/trace_index.ts";
import { makeTrace, type SpanSketch } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";

function selfTimesOf(...spans: SpanSketch[]): number[] {
  return selfTimes(makeTrace(spans).spans);
}

Deno.test("selfTimes() subtracts the time of children from their parent", () => {
  assertEquals(
    selfTimesOf(
      { startTime: 0, endTime: 10 },
      { under: 0, startTime: 1, endTime: 4 },
      { under: 1, startTime: 2, endTime: 3 },
      { under: 0, startTime: 6, endTime: 7 },
    ),
    [6, 2, 1, 1],
  );
});

Deno.test("selfTimes() uses the recorded duration of a span without children", () => {
  const spans = [
    { startTime: 0, endTime: 10 },
    { under: 0, startTime: 1, endTime: 4, duration: 3.0001 },
  ];
  assertEquals(selfTimesOf(...spans), [7, 3.0001]);
});

Deno.test("selfTimes() counts parallel children once", () => {
  assertEquals(
    selfTimesOf(
      { startTime: 0, endTime: 10 },
      { under: 0, startTime: 5, endTime: 8 },
      { under: 0, startTime: 1, endTime: 6 },
      { under: 0, startTime: 2, endTime: 3 },
    )[0],
    3,
  );
});

Deno.test("selfTimes() doesn't subtract the time of a child outside its parent", () => {
  assertEquals(
    selfTimesOf(
      { startTime: 5, endTime: 10 },
      { under: 0, startTime: 0, endTime: 6 },
      { under: 0, startTime: 9, endTime: 20 },
    ),
    [3, 6, 11],
  );
});

Deno.test("selfTimes() equals the result of sampling every moment", () => {
  const random = new SeededRandom(2);
  for (let round = 0; round < 200; round++) {
    const { spans } = makeTrace(Array.from({ length: 12 }, (_, i) => {
      const startTime = random.below(30);
      const endTime = startTime + random.below(12);
      return { startTime, endTime, ...(i > 0 && { under: random.below(i) }) };
    }));
    const sampled = spans.map((span) => {
      let time = 0;
      for (let t = span.startTime + 0.5; t < span.endTime; t++) {
        const runs = spans.some((child) =>
          child.parentId === span.id && child.startTime < t && t < child.endTime
        );
        if (!runs) time++;
      }
      return time;
    });
    assertEquals(selfTimes(spans), sampled);
  }
});

Deno.test("selfTimes() doesn't subtract browser spans from a server span above them", () => {
  const [root, page, fetched] = makeTrace([
    { startTime: 0, endTime: 10 },
    { under: 0, startTime: 4, endTime: 90 },
    { under: 1, startTime: 20, endTime: 60 },
  ]).spans;
  const attributes = { "app.origin": "client" };
  assertEquals(
    selfTimes([root!, { ...page!, attributes }, { ...fetched!, attributes }]),
    [10, 46, 40],
  );
});

Deno.test("selfTimes() accepts cycles of parents and ends before starts", () => {
  const [a, b] = makeTrace([{ startTime: 0, endTime: 4 }, {
    startTime: 9,
    endTime: 2,
  }]).spans;
  if (a === undefined || b === undefined) throw new Error("unreachable");
  assertEquals(
    selfTimes([{ ...a, parentId: b.id }, { ...b, parentId: a.id }]),
    [4, 0],
  );
  assertEquals(selfTimes([{ ...a, parentId: a.id }]), [0]);
});

Deno.test("indexTrace() summarizes a trace for the list", () => {
  const metadata = {
    origin: "server",
    method: "GET",
    pathname: "/a",
    routePattern: "/:x",
    statusCode: 500,
  } as const;
  const trace = makeTrace([
    { name: "GET /a", layer: "request", status: "error", endTime: 10 },
    { under: 0, layer: "database", startTime: 1, endTime: 8 },
    { under: 0, layer: "auth", status: "timeout", startTime: 8, endTime: 10 },
    { under: 0, layer: "routing" },
  ], metadata);
  assertEquals(indexTrace(trace), {
    id: trace.id,
    rootSpanId: trace.rootSpanId,
    name: "GET /a",
    startTime: trace.startTime,
    duration: 10,
    spanCount: 4,
    errorCount: 2,
    method: "GET",
    pathname: "/a",
    routePattern: "/:x",
    statusCode: 500,
    layers: [["database", 7], ["auth", 2], ["request", 1], ["routing", 0]],
  });
});

Deno.test("indexTrace() accepts traces without a root or without spans", () => {
  const trace = makeTrace([{ name: "first" }, {}]);
  assertEquals(indexTrace({ ...trace, rootSpanId: "0" }).name, "first");
  const empty = indexTrace({ ...trace, spans: [] });
  assertEquals([empty.name, empty.spanCount, empty.layers], ["", 0, []]);
});
