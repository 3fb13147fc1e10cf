import { assert, assertEquals, assertLess } from "@std/assert";
import type { SerializedTrace } from "../../../trace/types.ts";
import { cpuTime } from "../../growth.ts";
import {
  assignLanes,
  type ChromeTraceEvent,
  toChromeTrace,
} from "../../../trace/export/chrome.ts";
import { anyTrace } from "./any_trace.ts";
import { makeTrace, START } from "./make_trace.ts";
import { SeededRandom } from "./random.ts";
import { realisticTraces } from "./realistic.ts";

function slicesOf(traces: readonly SerializedTrace[]): ChromeTraceEvent[] {
  return toChromeTrace(traces).traceEvents.filter(({ ph }) => ph === "X");
}

/** Asserts that any two slices of a thread are nested or disjoint. */
function assertNested(slices: readonly ChromeTraceEvent[]): void {
  const threads = new Map<string, [number, number][]>();
  for (const { pid, tid, ts = NaN, dur = NaN } of slices) {
    const key = `${pid}/${tid}`;
    const thread = threads.get(key) ?? [];
    threads.set(key, thread);
    // Truncates each to whole nanoseconds, as Perfetto does.
    const start = Math.trunc(ts * 1000);
    thread.push([start, start + Math.trunc(dur * 1000)]);
  }
  for (const thread of threads.values()) {
    thread.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
    const open: number[] = [];
    for (const [start, end] of thread) {
      while (open.length > 0 && (open.at(-1) as number) <= start) open.pop();
      assert(open.length === 0 || end <= (open.at(-1) as number));
      open.push(end);
    }
  }
}

Deno.test("toChromeTrace() nests children in their parent on one thread", () => {
  const slices = slicesOf([makeTrace([
    { name: "root", startTime: 0, endTime: 10 },
    { name: "a", under: 0, startTime: 1, endTime: 4 },
    { name: "b", under: 1, startTime: 2, endTime: 3 },
    { name: "c", under: 0, startTime: 4, endTime: 9 },
  ])]);
  assertEquals(
    slices.map(({ name, tid, ts, dur }) => [name, tid, ts, dur]),
    [
      ["root", 1, 0, 10_000],
      ["a", 1, 1000, 3000],
      ["b", 1, 2000, 1000],
      ["c", 1, 4000, 5000],
    ],
  );
});

Deno.test("toChromeTrace() gives parallel spans their own threads, and reuses these", () => {
  const slices = slicesOf([makeTrace([
    { startTime: 0, endTime: 10 },
    { under: 0, startTime: 1, endTime: 5 },
    { under: 0, startTime: 2, endTime: 4 },
    { under: 2, startTime: 3, endTime: 4 },
    { under: 0, startTime: 3, endTime: 6 },
    { under: 0, startTime: 5, endTime: 9 },
    { under: 0, startTime: 6, endTime: 8 },
    { under: 0, startTime: 9, endTime: 12 },
  ])]);
  assertEquals(slices.map(({ tid }) => tid), [1, 1, 2, 2, 3, 1, 2, 3]);
  assertNested(slices);
});

Deno.test("toChromeTrace() nests slices properly for any trace", () => {
  const random = new SeededRandom(11);
  const traces = Array.from(
    { length: 100 },
    () =>
      makeTrace(Array.from({ length: 1 + random.below(40) }, (_, i) => {
        const startTime = random.fraction() * 20;
        return {
          startTime,
          endTime: startTime + random.pick([0, 1e-4, random.fraction() * 9]),
          ...(i > 0 && { under: random.below(i) }),
        };
      })),
  );
  assertNested(slicesOf(traces));
  assertNested(slicesOf(realisticTraces(50, 20)));
});

Deno.test("toChromeTrace() accepts traces with cycles, duplicate ids and odd times", () => {
  const random = new SeededRandom(5);
  for (let i = 0; i < 100; i++) {
    const trace = anyTrace(random);
    const slices = slicesOf([trace]);
    assertEquals(slices.length, trace.spans.length);
    for (const { ts = NaN, dur = NaN } of slices) assert(ts >= 0 && dur >= 0);
  }
});

Deno.test("toChromeTrace() counts from the earliest start, which it reports", () => {
  const browser = makeTrace([
    { startTime: 5, endTime: 9 },
    { startTime: 2.5, endTime: 9 },
  ]);
  const { traceEvents, otherData } = toChromeTrace([
    makeTrace([{
      startTime: 7,
    }]),
    browser,
  ]);
  const starts = traceEvents.filter(({ ph }) => ph === "X").map(({ ts }) => ts);
  assertEquals(starts, [4500, 2500, 0]);
  assertEquals(otherData, {
    epoch: START + 2.5,
    startTime: "2025-10-09T08:53:20.002Z",
  });
});

Deno.test("toChromeTrace() names processes and threads", () => {
  const trace = makeTrace([
    { name: "GET /", startTime: 0, endTime: 9 },
    { under: 0, startTime: 1, endTime: 3 },
    { under: 0, startTime: 2, endTime: 4 },
  ], { origin: "server", statusCode: 200 });
  const names = toChromeTrace([trace]).traceEvents
    .filter(({ ph }) => ph === "M")
    .map(({ name, tid, args }) => [name, tid, Object.values(args)[0]]);
  assertEquals(names, [
    ["process_name", 0, "GET / · 200"],
    ["process_labels", 0, `2025-10-09T08:53:20.000Z · ${trace.id}`],
    ["process_sort_index", 0, 1],
    ["thread_name", 1, "server"],
    ["thread_sort_index", 1, 1],
    ["thread_name", 2, "parallel 2"],
    ["thread_sort_index", 2, 2],
  ]);
});

Deno.test("toChromeTrace() keeps attributes, and writes events as instants on the span's thread", () => {
  const { traceEvents } = toChromeTrace([makeTrace([{
    layer: "database",
    status: "error",
    endTime: 2,
    attributes: { "db.query.text": "SELECT 1" },
    events: [{ name: "row", time: START + 1, attributes: { n: 1 } }],
  }])]);
  assertEquals(traceEvents.slice(-2), [
    {
      name: "span 0",
      cat: "database",
      ph: "X",
      ts: 0,
      dur: 2000,
      pid: 1,
      tid: 1,
      args: {
        id: "0000000000000001",
        parent: null,
        status: "error",
        attributes: { "db.query.text": "SELECT 1" },
      },
    },
    {
      name: "row",
      cat: "database",
      ph: "i",
      s: "t",
      ts: 1000,
      pid: 1,
      tid: 1,
      args: { span: "0000000000000001", attributes: { n: 1 } },
    },
  ]);
});

Deno.test("assignLanes() handles 50,000 parallel spans", async () => {
  const spans = Array.from({ length: 50_000 }, (_, i) => ({
    start: i,
    end: 1e6 + i,
    parent: -1,
  }));
  let lanes: number[] = [];
  const ms = await cpuTime([spans], () => lanes = assignLanes(spans));
  assertEquals(new Set(lanes).size, 50_000);
  // Quadratic work would take tens of seconds.
  assertLess(ms, 3000);
});

Deno.test("toChromeTrace() of no traces returns a file without events", () => {
  const { traceEvents, otherData } = toChromeTrace([]);
  assertEquals(traceEvents, []);
  assertEquals(otherData.epoch, 0);
});
