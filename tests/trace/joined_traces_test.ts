/** Requests, pages and services that the tracer joins into one trace. */

import { assert, assertEquals, assertStrictEquals } from "@std/assert";
import {
  type ClientSpanData,
  createCollector,
  createOTLPExporter,
  createTracesAPIHandler,
  deserializeTrace,
  fromOTLP,
  serializeTrace,
  type SpanData,
  toChromeTrace,
  toOTLP,
  type TraceData,
  type TracerImpl,
} from "@quartet/kit/trace";
import {
  createTestTracer,
  EPOCH,
  onlyTrace,
  spanNamed,
  treeOf,
} from "./fakes.ts";
import { packTraces, unpackTraces } from "../../trace/export/pack.ts";
import { indexTrace } from "../../trace/export/trace_index.ts";
import { fromChromeTrace } from "../../viewer/model/chrome_reader.ts";
import { SeededRandom } from "./export/random.ts";

const PAGE = "a".repeat(32);
const IMAGE = "b".repeat(32);

function id(n: number): string {
  return n.toString(16).padStart(16, "0");
}

function link(traceId: string, spanId: string): string {
  return `00-${traceId}-${spanId}-01`;
}

/** Returns a span of a browser, at some milliseconds after the epoch. */
function client(
  n: number,
  parentId: string | null,
  name: string,
  [from, to]: readonly [number, number],
  attributes: ClientSpanData["attributes"] = {},
): ClientSpanData {
  return {
    id: id(n),
    parentId,
    name,
    layer: "request",
    status: "ok",
    startTime: EPOCH + from,
    endTime: EPOCH + to,
    attributes,
    events: [],
  };
}

/** Returns a span of another service. */
function remote(
  n: number,
  traceId: string,
  parentId: string | null,
  name: string,
  [from, to]: readonly [number, number],
  attributes: SpanData["attributes"] = { "service.name": "stock" },
): SpanData {
  const span = client(n, parentId, name, [from, to], attributes);
  return { ...span, traceId, duration: to - from, children: [] };
}

/** Records a request of the server. */
function request(
  { tracer, clock }: ReturnType<typeof createTestTracer>,
  name: string,
  [from, to]: readonly [number, number],
  traceId: string,
  parentId?: string,
  status = 200,
): string {
  clock.time = from;
  const root = tracer.startTrace(name, "request", {
    traceId,
    ...(parentId !== undefined && { parentId }),
    attributes: {
      "http.request.method": "GET",
      "url.path": name.slice(4),
      "http.response.status_code": status,
    },
  });
  clock.time = to;
  root.end();
  return root.id;
}

/** Records a page with an image and a fetch, whose spans arrive at the end. */
function recordPage(test = createTestTracer()): TracerImpl {
  const { tracer } = test;
  const page = request(test, "GET /", [10, 20], PAGE);
  const image = request(test, "GET /image", [110, 120], IMAGE);
  request(test, "GET /api", [210, 240], PAGE, id(3), 404);
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "load", [0, 300], {
      "app.action": "load",
      "url.path": "/",
      "app.link": link(PAGE, page),
    }),
    client(2, id(1), "img", [100, 130], { "app.link": link(IMAGE, image) }),
    client(3, id(1), "fetch", [200, 250], { "http.request.method": "GET" }),
  ]);
  return tracer;
}

const PAGE_TREE = "load(GET /, img(GET /image), fetch(GET /api))";

Deno.test("A page, its resources and its fetches are one trace", () => {
  const tracer = recordPage();
  const trace = onlyTrace(tracer);
  assertEquals(treeOf(trace), PAGE_TREE);
  assertEquals([trace.id, trace.rootSpanId], [PAGE, id(1)]);
  assertEquals(
    [trace.startTime, trace.endTime, trace.duration],
    [EPOCH, EPOCH + 300, 300],
  );
  assertEquals(trace.metadata, {
    origin: "client",
    method: "GET",
    pathname: "/",
    statusCode: 200,
  });
  assertEquals(spanNamed(trace, "GET /image").traceId, IMAGE);
  assertStrictEquals(tracer.getTrace(IMAGE), tracer.getTrace(PAGE));
});

Deno.test("A navigation has the page's path and the status of its first failed request", () => {
  const test = createTestTracer();
  request(test, "GET /a", [10, 20], PAGE, id(2));
  request(test, "GET /b", [30, 40], PAGE, id(2), 503);
  test.tracer.mergeClientSpans(PAGE, [
    client(1, null, "navigation", [0, 50], {
      "app.action": "navigation",
      "url.path": "/cart",
    }),
    client(2, id(1), "fetch", [5, 45]),
  ]);
  assertEquals(onlyTrace(test.tracer).metadata, {
    origin: "client",
    pathname: "/cart",
    statusCode: 503,
  });
});

Deno.test("A request that still runs is part of its stored page, and marked as open", () => {
  const test = createTestTracer();
  const { tracer } = test;
  recordPage(test);
  const running = tracer.startTrace("GET /stream", "request", {
    traceId: PAGE,
    parentId: id(3),
  });
  const open = spanNamed(onlyTrace(tracer), "GET /stream");
  assertEquals(open.attributes, { "app.open": true });
  assertEquals(onlyTrace(tracer).duration, 300);
  running.end();
  const ended = spanNamed(onlyTrace(tracer), "GET /stream");
  assertEquals(ended.attributes, {});
});

Deno.test("An ended browser span replaces the open one, and no other one does", () => {
  const { tracer } = createTestTracer();
  const open = client(1, null, "load", [0, 0], {
    "app.action": "load",
    "app.open": true,
  });
  const ended = client(1, null, "load", [0, 90], { "app.action": "load" });
  const counts = [open, open, ended, ended, open].map((span) =>
    tracer.mergeClientSpans(PAGE, [span])
  );
  assertEquals(counts, [1, 0, 1, 0, 0]);
  assertEquals(onlyTrace(tracer).duration, 90);
});

Deno.test("Long-lived work and all below it don't count in the total", () => {
  const { tracer } = createTestTracer();
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "load", [0, 90], { "app.action": "load" }),
    client(2, id(1), "socket", [50, 5_000], { "app.detached": true }),
    client(3, id(2), "message", [4_000, 6_000]),
  ]);
  assertEquals(onlyTrace(tracer).duration, 90);
});

Deno.test("The upgrade of a subscription's socket is below the page's socket", () => {
  const test = createTestTracer();
  const upgrade = request(test, "GET /rpc", [5, 6], IMAGE);
  const { tracer } = test;
  tracer.startTrace("rpc:news", "rpc", {
    traceId: PAGE,
    parentId: id(2),
    attributes: { "app.link.upgrade": link(IMAGE, upgrade) },
  }).end();
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "load", [0, 90], { "app.action": "load" }),
    client(2, id(1), "websocket", [4, 80]),
  ]);
  const trace = onlyTrace(tracer);
  assertEquals(treeOf(trace), "load(websocket(GET /rpc, rpc:news))");
  assertEquals(trace.id, PAGE);
});

Deno.test("The first link to a request wins, and the second trace stays apart", () => {
  const test = createTestTracer();
  const image = request(test, "GET /image", [5, 6], IMAGE);
  const page = (n: number) =>
    client(n, null, `page ${n}`, [n, 9], { "app.link": link(IMAGE, image) });
  test.tracer.mergeClientSpans(PAGE, [page(1)]);
  test.tracer.mergeClientSpans("c".repeat(32), [page(2)]);
  assertEquals(
    test.tracer.getTraces().map((trace) => treeOf(trace)),
    ["page 1(GET /image)", "page 2"],
  );
});

Deno.test("A link moves no span that has a known parent", () => {
  const { tracer } = createTestTracer();
  const root = tracer.startTrace("GET /");
  const step = root.child("step", "data");
  step.end();
  root.end();
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "thief", [0, 9], {
      "app.link": link(root.traceId, step.id),
    }),
  ]);
  assertEquals(
    tracer.getTraces().map((trace) => treeOf(trace)),
    ["GET /(step)", "thief"],
  );
});

Deno.test("Links that form a cycle, or name their own span, are cut", () => {
  const { tracer } = createTestTracer();
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "one", [1, 9], { "app.link": link(IMAGE, id(2)) }),
    client(3, null, "three", [3, 4], { "app.link": link(PAGE, id(3)) }),
  ]);
  tracer.mergeClientSpans(IMAGE, [
    client(2, null, "two", [2, 8], { "app.link": link(PAGE, id(1)) }),
  ]);
  const trace = onlyTrace(tracer);
  assertEquals(treeOf(trace), "one(two, three)");
  assertEquals(trace.spans.size, 3);
});

Deno.test("A span that is cut from a cycle of parents, and then from one by a link, is a root", () => {
  const { tracer } = createTestTracer();
  tracer.mergeSpans([
    remote(1, PAGE, id(2), "one", [0, 9]),
    remote(2, PAGE, id(1), "two", [1, 8]),
    remote(3, PAGE, id(2), "three", [2, 7], {
      "service.name": "stock",
      "app.link": link(PAGE, id(1)),
    }),
  ]);
  const trace = onlyTrace(tracer);
  assertEquals(treeOf(trace), "one(two(three))");
  assertEquals(spanNamed(trace, "one").parentId, null);
});

Deno.test("A linked id finds nothing after its trace was evicted", () => {
  const test = createTestTracer({ maxTraces: 2 });
  const tracer = recordPage(test);
  assertEquals(treeOf(tracer.getTrace(IMAGE)!), PAGE_TREE);
  for (const name of ["newer", "newest"]) test.tracer.startTrace(name).end();
  assertEquals(tracer.getTrace(IMAGE), undefined);
  assertEquals(tracer.getTrace(PAGE), undefined);
  assertEquals(
    tracer.mergeClientSpans(IMAGE, [client(9, null, "late", [0, 1])]),
    1,
  );
  assertEquals(treeOf(tracer.getTrace(IMAGE)!), "late");
});

Deno.test("The trace that changed last is evicted last", () => {
  const test = createTestTracer({ maxTraces: 2 });
  request(test, "GET /old", [0, 1], PAGE);
  test.tracer.startTrace("job 1").end();
  test.tracer.mergeClientSpans(PAGE, [client(1, null, "load", [0, 2])]);
  test.tracer.startTrace("job 2").end();
  assertEquals(
    test.tracer.getTraces().map((trace) => treeOf(trace)),
    ["GET /old(load)", "job 2"],
  );
});

Deno.test("The bounds hold for the whole trace, and what doesn't fit is counted", () => {
  const test = createTestTracer({ maxSpansPerTrace: 10 });
  const { tracer } = test;
  for (let i = 0; i < 4; i++) {
    const root = tracer.startTrace(`GET /${i}`, "request", { traceId: PAGE });
    for (let k = 0; k < 3; k++) root.child("step", "data").end();
    root.end();
  }
  assertEquals(
    tracer.mergeClientSpans(PAGE, [client(1, null, "a", [0, 1])]),
    0,
  );
  const { spans, metadata } = onlyTrace(tracer);
  assertEquals([spans.size, metadata.droppedSpans], [10, 7]);
});

Deno.test("mergeSpans() with 100,000 spans keeps those that fit", () => {
  const { tracer } = createTestTracer();
  const spans = Array.from(
    { length: 100_000 },
    (_, i) =>
      remote(i + 1, PAGE, i === 0 ? null : id(i), "step", [0, 1], {
        "app.link": link(PAGE, id((i * 7) % 100_000 + 1)),
      }),
  );
  assertEquals(tracer.mergeSpans(spans), 500);
  assertEquals(onlyTrace(tracer).metadata.droppedSpans, 99_500);
  const many = spans.map((span, i) => ({
    ...span,
    traceId: (i + 1).toString(16).padStart(32, "0"),
  }));
  assertEquals(tracer.mergeSpans(many), 100_000);
  assertEquals(tracer.getTraces().length, 200);
});

Deno.test("A service's span with the id of a known span isn't added", () => {
  const { tracer } = createTestTracer();
  const root = tracer.startTrace("GET /");
  root.end();
  const fake = {
    ...remote(1, root.traceId, null, "fake", [0, 1]),
    id: root.id,
  };
  assertEquals(tracer.mergeSpans([fake]), 0);
  const first = remote(2, root.traceId, root.id, "first", [0, 1]);
  const second = { ...first, name: "second" };
  assertEquals(tracer.mergeSpans([first, second]), 1);
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(first)");
});

Deno.test("Events of services appear on their spans, also if they arrive first", () => {
  const { tracer } = createTestTracer();
  const log = (spanId: string, time: number) => ({
    traceId: PAGE,
    spanId,
    event: { name: "log", time, attributes: { body: "hello" } },
  });
  assertEquals(tracer.mergeEvents([log(id(1), EPOCH + 1)]), 1);
  assertEquals([tracer.getTraces(), tracer.getTrace(PAGE)], [[], undefined]);
  tracer.mergeSpans([remote(1, PAGE, null, "job", [0, 9])]);
  assertEquals(tracer.mergeEvents([log(id(1), EPOCH)]), 1);
  const { events } = spanNamed(onlyTrace(tracer), "job");
  assertEquals(events.map(({ time }) => time), [EPOCH, EPOCH + 1]);
});

Deno.test("Events that wait for their spans are bounded", () => {
  const { tracer } = createTestTracer();
  const body = "x".repeat(1_000);
  const events = Array.from({ length: 5_000 }, (_, i) => ({
    traceId: PAGE,
    spanId: id(i % 50 + 1),
    event: { name: "log", time: EPOCH + i, attributes: { body } },
  }));
  tracer.mergeEvents(events);
  tracer.mergeSpans(
    Array.from(
      { length: 50 },
      (_, i) => remote(i + 1, PAGE, null, "job", [0, 9]),
    ),
  );
  const { spans } = onlyTrace(tracer);
  assertEquals(spans.size, 50);
  const kept = spans.values().reduce((n, { events }) => n + events.length, 0);
  assert(kept > 400 && kept < 600, `${kept}`);
});

for (const logged of [1, 2]) {
  const isKept = logged === 1;
  const title = isKept
    ? "Logs leave a full trace with the span that they belong to"
    : "A trace whose parts all had no room emits no update";
  Deno.test(title, () => {
    const { tracer } = createTestTracer();
    const root = tracer.startTrace("GET /");
    const { traceId } = root;
    const text = "x".repeat(4_000);
    const attributes = { a: text, b: text, c: text, d: text, e: text };
    for (let i = 0; i < 60; i++) root.setAttribute(`key${i}`, text);
    for (let i = 0; i < 25; i++) root.event("step", attributes);
    tracer.mergeSpans([remote(1, traceId, root.id, "job", [0, 9])]);
    const event = { name: "log", time: EPOCH, attributes };
    // The logs of an unknown span stay, because it may arrive.
    const log = { traceId, spanId: id(logged), event };
    assert(tracer.mergeEvents(Array.from({ length: 40 }, () => log)) > 20);
    const updates: (TraceData | undefined)[] = [];
    tracer.subscribe((event) => {
      if (event.type === "trace:update") updates.push(event.trace);
    });
    root.end();
    const trace = tracer.getTrace(traceId);
    assertEquals(trace && treeOf(trace), isKept ? "GET /" : undefined);
    assertEquals(updates.includes(undefined), false);
  });
}

for (const skew of [-5_000, 5_000]) {
  Deno.test(`A server's clock that differs by ${skew} ms is aligned with the page's`, () => {
    const test = createTestTracer();
    test.clock.wallOffset = 1_000_000 + skew;
    const at = (time: number) => time + 1_000_000;
    const page = request(test, "GET /", [10, 20], PAGE);
    const root = test.tracer.startTrace("GET /api", "request", {
      traceId: PAGE,
      parentId: id(2),
    });
    test.clock.advance(2);
    root.child("query", "database").end();
    root.end();
    test.tracer.mergeClientSpans(PAGE, [
      client(1, null, "load", [at(0), at(300)], {
        "app.action": "load",
        "app.link": link(PAGE, page),
      }),
      client(2, id(1), "fetch", [at(100), at(150)], {
        "http.request.method": "GET",
      }),
    ]);
    const trace = onlyTrace(test.tracer);
    assertEquals(trace.duration, 300);
    for (const span of trace.spans.values()) {
      const parent = trace.spans.get(span.parentId ?? "");
      if (parent === undefined) continue;
      assert(span.startTime >= parent.startTime, span.name);
      assert(span.endTime <= parent.endTime, span.name);
      const isShifted = "app.clock.shift" in span.attributes;
      assertEquals(isShifted, span.name.startsWith("GET"), span.name);
    }
  });
}

Deno.test("A child that begins after its parent has ended stays there if nobody waits for it", () => {
  const { tracer } = createTestTracer();
  tracer.mergeSpans([
    remote(1, PAGE, null, "enqueue", [0, 10], { "service.name": "shop" }),
    remote(2, PAGE, id(1), "work", [5_000, 5_005], { "service.name": "queue" }),
  ]);
  const work = spanNamed(onlyTrace(tracer), "work");
  assertEquals(work.startTime, EPOCH + 5_000);
  assertEquals(work.attributes, { "service.name": "queue" });
});

Deno.test("A difference within the measured error of the clock moves spans no further than necessary", () => {
  const test = createTestTracer();
  request(test, "GET /api", [97, 107], PAGE, id(2));
  createCollector(test.tracer).receive({
    type: "client:spans",
    traceId: PAGE,
    spans: [
      client(1, null, "click", [0, 300], { "app.action": "click" }),
      client(2, id(1), "fetch", [100, 150]),
    ],
    clock: { offset: 0, error: 4 },
  });
  const trace = onlyTrace(test.tracer);
  assertEquals(spanNamed(trace, "click").attributes["app.clock.error"], 4);
  assertEquals(spanNamed(trace, "GET /api").startTime, EPOCH + 100);
});

/** Returns a trace's spans without what depends on random ids. */
function shapeOf(trace: TraceData): unknown[] {
  const names = new Map([...trace.spans.values()].map((s) => [s.id, s.name]));
  return [...trace.spans.values()].map((span) => [
    span.name,
    names.get(span.parentId ?? ""),
    span.children.map((child) => names.get(child)),
    span.startTime,
    span.duration,
    span.attributes["app.clock.shift"],
  ]);
}

function shuffled<T>(list: readonly T[], random: SeededRandom): T[] {
  return list.map((item) => [random.fraction(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);
}

Deno.test("A service that answers longer than its caller waits isn't moved", () => {
  const { tracer } = createTestTracer();
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "fetch", [0, 20], { "http.request.method": "GET" }),
  ]);
  tracer.mergeSpans([remote(2, PAGE, id(1), "stock", [5, 26])]);
  const span = spanNamed(onlyTrace(tracer), "stock");
  assertEquals(span.startTime, EPOCH + 5);
  assertEquals("app.clock.shift" in span.attributes, false);
});

Deno.test("Subscriptions don't count in the times of layers", () => {
  const { tracer } = createTestTracer();
  tracer.mergeSpans([
    remote(1, PAGE, null, "GET /", [0, 20]),
    remote(2, PAGE, id(1), "news", [5, 5_000], { "app.detached": true }),
    remote(3, PAGE, id(2), "query", [10, 3_000]),
  ]);
  assertEquals(indexTrace(serializeTrace(onlyTrace(tracer))).layers, [
    ["request", 20],
  ]);
});

Deno.test("A full trace takes its linked requests, and counts their spans", () => {
  const test = createTestTracer({ maxSpansPerTrace: 3 });
  const { tracer } = test;
  const images = Array.from({ length: 5 }, (_, i) => {
    const traceId = String(i).repeat(31) + "c";
    return link(traceId, request(test, "GET /image", [10, 20], traceId));
  });
  tracer.mergeClientSpans(PAGE, [
    client(1, null, "load", [0, 300], { "app.action": "load" }),
    ...images.map((image, i) =>
      client(2 + i, id(1), "img", [5, 25], { "app.link": image })
    ),
  ]);
  const trace = onlyTrace(tracer);
  assertEquals(trace.spans.size, 3);
  assertEquals(trace.metadata.droppedSpans, 8);
});

Deno.test("A trace takes at most 2,000 linked traces, and can still be linked itself", () => {
  const test = createTestTracer({
    maxTraces: 10_000,
    maxSpansPerTrace: 10_000,
  });
  const { tracer } = test;
  const digits = (n: number) => n.toString(16).padStart(32, "0");
  const OUTER = "e".repeat(32);
  tracer.mergeClientSpans(OUTER, [
    client(1, null, "outer", [0, 900], { "app.link": link(PAGE, id(2)) }),
  ]);
  const images = Array.from(
    { length: 2_001 },
    (_, i) => remote(10_000 + i, digits(i + 1), null, "image", [10, 20]),
  );
  tracer.mergeSpans(images);
  for (const [i, image] of images.entries()) {
    tracer.mergeClientSpans(PAGE, [
      client(3 + i, null, "img", [5, 25], {
        "app.link": link(image.traceId, image.id),
      }),
    ]);
  }
  tracer.mergeClientSpans(PAGE, [
    client(2, null, "load", [0, 800], {
      "app.link": link(digits(9_999), id(9)),
    }),
  ]);
  const alone = (trace: TraceData) => trace.spans.size === 1;
  const traces = tracer.getTraces();
  assertEquals(traces.filter(alone).map((trace) => trace.id), [digits(2_001)]);
  assertEquals(tracer.getTrace(PAGE)?.id, OUTER);
});

Deno.test("The same tree comes of parts that arrive in any order", () => {
  const random = new SeededRandom(16);
  const expected: unknown[] = [];
  for (let round = 0; round < 200; round++) {
    const test = createTestTracer();
    const { tracer, clock } = test;
    const running = ["GET /", "GET /image", "GET /api", "GET /rpc"];
    const roots = running.map((name, i) => {
      clock.time = 10 + i * 50;
      const root = tracer.startTrace(name, "request", {
        traceId: [PAGE, IMAGE, PAGE, "d".repeat(32)][i]!,
        ...(i === 2 && { parentId: id(3) }),
      });
      clock.advance(1);
      root.child(`${name} step`, "data").end();
      return root;
    });
    const parts: (() => unknown)[] = [
      ...roots.map((root) => () => root.end()),
      () =>
        tracer.mergeClientSpans(PAGE, [
          client(1, null, "load", [0, 290], {
            "app.action": "load",
            "app.link": link(PAGE, roots[0]!.id),
          }),
        ]),
      () =>
        tracer.mergeClientSpans(PAGE, [
          client(2, id(1), "img", [55, 230], {
            "app.link": link(IMAGE, roots[1]!.id),
          }),
          client(3, id(1), "fetch", [100, 260]),
          client(4, id(1), "websocket", [150, 280]),
        ]),
      () =>
        tracer.mergeClientSpans(PAGE, [client(5, id(99), "lost", [280, 285])]),
      () =>
        tracer.mergeSpans([
          remote(6, PAGE, roots[2]!.id, "stock", [5_113, 5_120]),
          remote(7, PAGE, id(6), "stock query", [5_114, 5_115]),
        ]),
      () =>
        tracer.mergeSpans([
          remote(8, PAGE, id(4), "news", [160, 170], {
            "app.link.upgrade": link("d".repeat(32), roots[3]!.id),
          }),
        ]),
      () => tracer.getTraces(),
      () => tracer.getTrace(IMAGE),
    ];
    clock.time = 200;
    for (const part of shuffled(parts, random)) part();
    const trace = onlyTrace(tracer);
    assertEquals(trace.id, PAGE);
    expected[0] ??= shapeOf(trace);
    assertEquals(shapeOf(trace), expected[0]);
    assertEquals(trace.spans.size, 16);
    if (round > 0) continue;
    assertEquals(
      treeOf(trace),
      "load(GET /(GET / step), img(GET /image(GET /image step)), " +
        "fetch(GET /api(GET /api step, stock(stock query))), " +
        "websocket(GET /rpc(GET /rpc step), news), lost)",
    );
  }
});

Deno.test("An exported joined trace is the same after an import, in each format", async () => {
  const trace = serializeTrace(onlyTrace(recordPage()));
  const [read] = fromOTLP(JSON.parse(JSON.stringify(toOTLP([trace]))));
  assertEquals(read, trace);
  assertEquals(serializeTrace(deserializeTrace(JSON.stringify(trace))), trace);
  const packed = await unpackTraces(await packTraces([trace]));
  assertEquals(packed.trace(0), trace);
  const [chrome] = fromChromeTrace(
    JSON.parse(JSON.stringify(toChromeTrace([trace]))),
  );
  assertEquals(chrome, trace);
});

Deno.test("The records of a joined trace are joined again after an import", () => {
  const trace = serializeTrace(onlyTrace(recordPage()));
  const test = createTestTracer();
  const records: TraceData[] = [];
  test.tracer.subscribe((event) => {
    if (event.type === "trace:end") records.push(event.trace);
    if (event.type === "span:merge") {
      const [first] = event.spans;
      records.push({
        ...records[0]!,
        rootSpanId: first!.id,
        spans: new Map(event.spans.map((span) => [span.id, span])),
      });
    }
  });
  recordPage(test);
  const [read, ...others] = fromOTLP(toOTLP(records.map(serializeTrace)));
  assertEquals(others, []);
  assertEquals(
    treeOf(deserializeTrace(JSON.stringify(read))),
    treeOf(deserializeTrace(JSON.stringify(trace))),
  );
});

Deno.test("The exporter sends each span once, and none of other services", async () => {
  const test = createTestTracer();
  const bodies: string[] = [];
  const exporter = createOTLPExporter({
    url: "http://localhost:4318",
    fetch: (_url, init) => {
      bodies.push(new TextDecoder().decode(init!.body as Uint8Array));
      return Promise.resolve(Response.json({}));
    },
  });
  exporter.attach(test.tracer);
  recordPage(test);
  await exporter.flush();
  test.tracer.mergeSpans([remote(9, PAGE, id(3), "stock", [200, 201])]);
  test.tracer.mergeClientSpans(PAGE, [
    client(4, id(1), "late", [280, 290]),
    client(5, id(1), "open", [281, 281], { "app.open": true }),
  ]);
  test.tracer.mergeClientSpans("c".repeat(32), [
    client(6, null, "alone", [0, 1]),
  ]);
  await exporter.flush();
  await exporter.close();
  const names = [
    ...bodies.join().matchAll(
      /"name":"((?:GET|load|img|fetch|late|alone|open|stock)[^"]*)"/g,
    ),
  ]
    .map(([, name]) => name).sort();
  assertEquals(names, [
    "GET /",
    "GET /api",
    "GET /image",
    "alone",
    "fetch",
    "img",
    "late",
    "load",
  ]);
});

Deno.test("The API finds a joined trace by a linked id, and by any of its requests", async () => {
  const handler = createTracesAPIHandler(recordPage(), {
    authorize: () => true,
  });
  const ask = async (query: string) =>
    await (await handler(new Request(`http://localhost/?${query}`))).json();
  assertEquals((await ask(`id=${IMAGE}`)).id, PAGE);
  for (
    const [query, total] of [
      [`traceId=${IMAGE}`, 1],
      ["path=/api&status=4xx", 1],
      ["path=/image&status=200", 1],
      ["path=/image&status=404", 0],
      ["method=POST", 0],
      ["minDuration=300", 1],
      ["minDuration=301", 0],
    ] as const
  ) assertEquals((await ask(query)).total, total, query);
});
