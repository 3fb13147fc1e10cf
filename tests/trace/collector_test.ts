import { assert, assertEquals, assertMatch } from "@std/assert";
import {
  createCollector,
  deserializeTrace,
  serializeTrace,
  type Span,
  type TracerImpl,
} from "@quartet/kit/trace";
import {
  createTestTracer,
  EPOCH,
  onlyTrace,
  rootOf,
  spanNamed,
  treeOf,
} from "./fakes.ts";

/** Returns an id that ends in a number. */
function id(n: number): string {
  return n.toString(16).padStart(16, "0");
}

/** Returns a span as a browser sends it. */
function clientSpan(
  n: number,
  parentId: string | null | undefined,
  more: Record<string, unknown> = {},
): Record<string, unknown> {
  return {
    id: id(n),
    parentId,
    name: `client ${n}`,
    layer: "islands",
    startTime: EPOCH + n,
    endTime: EPOCH + n + 1,
    ...more,
  };
}

/**
 * Creates a tracer with one ended trace, and a function to send spans to it.
 */
function setUp(): {
  tracer: TracerImpl;
  root: Span;
  step: Span;
  receive(...spans: unknown[]): ReturnType<
    ReturnType<typeof createCollector>["receive"]
  >;
} {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("GET /");
  const step = root.child("step", "data");
  clock.advance(10);
  step.end();
  root.end();
  const collector = createCollector(tracer, { now: () => EPOCH });
  return {
    tracer,
    root,
    step,
    receive: (...spans) =>
      collector.receive({
        type: "client:spans",
        traceId: root.traceId,
        spans,
      }),
  };
}

Deno.test("A browser span is a child of its parent, on the server or in the browser", () => {
  const { tracer, root, step, receive } = setUp();
  const result = receive(
    clientSpan(1, root.id),
    clientSpan(2, id(1)),
    clientSpan(3, step.id),
  );
  assertEquals(result, { added: 3, rejected: 0 });
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "GET /(step(client 3), client 1(client 2))",
  );
});

Deno.test("A browser span is recorded with all its fields and marked as from a browser", () => {
  const { tracer, root, receive } = setUp();
  receive(clientSpan(1, root.id, {
    status: "error",
    attributes: { "a": "text", "b": 1.5, "c": true },
    events: [{ name: "seen", time: EPOCH + 1.5, attributes: { x: 1 } }],
  }));
  assertEquals(spanNamed(onlyTrace(tracer), "client 1"), {
    id: id(1),
    traceId: root.traceId,
    parentId: root.id,
    name: "client 1",
    layer: "islands",
    status: "error",
    startTime: EPOCH + 1,
    endTime: EPOCH + 2,
    duration: 1,
    attributes: { "a": "text", "b": 1.5, "c": true, "app.origin": "client" },
    events: [{ name: "seen", time: EPOCH + 1.5, attributes: { x: 1 } }],
    children: [],
  });
});

Deno.test("A browser span without an end is open until its record with an end arrives", () => {
  const { tracer, root, receive } = setUp();
  receive(clientSpan(1, root.id, { endTime: undefined }));
  const open = spanNamed(onlyTrace(tracer), "client 1");
  assertEquals([open.startTime, open.endTime], [EPOCH + 1, EPOCH + 1]);
  assertEquals(open.attributes["app.open"], true);
  assertEquals(receive(clientSpan(1, root.id)), { added: 1, rejected: 0 });
  const ended = spanNamed(onlyTrace(tracer), "client 1");
  assertEquals(ended.endTime, EPOCH + 2);
  assertEquals(ended.attributes["app.open"], undefined);
});

Deno.test("A browser span fails with its status code, and has its error's type", () => {
  const { tracer, root, receive } = setUp();
  const code = "http.response.status_code";
  const events = [
    { name: "exception", time: EPOCH, attributes: { "exception.type": "E" } },
  ];
  const cases: [fields: Record<string, unknown>, failure: unknown][] = [
    [{ attributes: { [code]: 399 } }, ["ok", undefined]],
    [{ attributes: { [code]: 400 } }, ["error", "400"]],
    [{ status: "error", attributes: { [code]: 200 } }, ["error", undefined]],
    [{ status: "error", events }, ["error", "E"]],
    [{ events }, ["ok", undefined]],
    [
      { status: "error", events, attributes: { "error.type": "own" } },
      ["error", "own"],
    ],
  ];
  for (const [index, [fields, failure]] of cases.entries()) {
    receive(clientSpan(index + 1, root.id, fields));
    const { status, attributes } = spanNamed(
      onlyTrace(tracer),
      `client ${index + 1}`,
    );
    assertEquals([status, attributes["error.type"]], failure);
  }
});

Deno.test("A browser span without layer and status is custom and ok", () => {
  const { tracer, root, receive } = setUp();
  receive(clientSpan(1, root.id, { layer: undefined, status: undefined }));
  const { layer, status } = spanNamed(onlyTrace(tracer), "client 1");
  assertEquals([layer, status], ["custom", "ok"]);
});

Deno.test("A browser span with an unknown or no parent is a child of the root", () => {
  const { tracer, receive } = setUp();
  receive(
    clientSpan(1, id(99)),
    clientSpan(2, null),
    clientSpan(3, undefined),
  );
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "GET /(step, client 1, client 2, client 3)",
  );
});

Deno.test("A parent that arrives later gets its children back", () => {
  const { tracer, receive } = setUp();
  receive(clientSpan(2, id(1)));
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(step, client 2)");
  receive(clientSpan(1, null));
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(step, client 1(client 2))");
});

Deno.test("Browser spans are ordered by start, whenever they arrive", () => {
  const { tracer, root, receive } = setUp();
  receive(clientSpan(5, root.id), clientSpan(2, root.id));
  receive(clientSpan(1, root.id, { startTime: EPOCH + 0.5 }));
  const trace = onlyTrace(tracer);
  assertEquals(treeOf(trace), "GET /(step, client 1, client 2, client 5)");
  const times = [...trace.spans.values()].map((span) => span.startTime);
  assertEquals(times, times.toSorted((a, b) => a - b));
});

Deno.test("The browser's fetch that called the server is above the server's root", () => {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("GET /", "request", {
    traceId: "a".repeat(32),
    parentId: id(2),
  });
  clock.advance(5);
  root.end();
  createCollector(tracer).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [
      clientSpan(1, null, { name: "click" }),
      clientSpan(2, id(1), { name: "fetch" }),
      clientSpan(3, id(1), { name: "render" }),
      clientSpan(4, null, { name: "unrelated" }),
    ],
  });
  const trace = onlyTrace(tracer);
  assertEquals(rootOf(trace).parentId, null);
  assertEquals(treeOf(trace), "click(fetch(GET /), render, unrelated)");
});

Deno.test("Browser spans that form a cycle stay reachable from the root, each once", () => {
  const { tracer, root, receive } = setUp();
  const result = receive(
    clientSpan(1, id(3)),
    clientSpan(2, id(1)),
    clientSpan(3, id(2)),
    clientSpan(4, id(4)),
    clientSpan(5, id(3)),
  );
  assertEquals(result, { added: 5, rejected: 0 });
  const trace = onlyTrace(tracer);
  const reached = treeOf(trace).match(/client \d/g)!.toSorted();
  assertEquals(reached, [1, 2, 3, 4, 5].map((n) => `client ${n}`));
  assert(rootOf(trace).children.includes(id(4)));
  assertEquals(root.id, trace.rootSpanId);
});

Deno.test("The children of a cycle of browser spans stay there, even if they started first", () => {
  const { tracer, receive } = setUp();
  receive(clientSpan(1, id(2)), clientSpan(2, id(3)), clientSpan(3, id(2)));
  const trace = onlyTrace(tracer);
  assertEquals(spanNamed(trace, "client 1").parentId, id(2));
  assertMatch(treeOf(trace), /client 2\(client 1/);
});

Deno.test("A cycle of browser spans above the server's root is broken as well", () => {
  const { tracer } = createTestTracer();
  const root = tracer.startTrace("GET /", "request", { parentId: id(1) });
  root.end();
  createCollector(tracer).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [clientSpan(1, id(2)), clientSpan(2, id(1))],
  });
  const trace = onlyTrace(tracer);
  const tops = [...trace.spans.values()].filter((span) =>
    span.parentId === null
  );
  assertEquals(tops.length, 1);
  assertMatch(treeOf(trace, tops[0]), /GET \//);
});

Deno.test("A browser span that claims to be both above and below the root is above", () => {
  const { tracer } = createTestTracer();
  const root = tracer.startTrace("GET /", "request", { parentId: id(1) });
  root.end();
  createCollector(tracer).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [clientSpan(1, root.id)],
  });
  const trace = onlyTrace(tracer);
  assertEquals(
    treeOf(trace, spanNamed(trace, "client 1")),
    "client 1(GET /)",
  );
});

Deno.test("A duplicate browser span, or one with a server span's id, isn't added", () => {
  const { tracer, root, receive } = setUp();
  const first = receive(clientSpan(1, root.id), clientSpan(1, null));
  const again = receive(clientSpan(1, root.id), {
    ...clientSpan(2, null),
    id: root.id,
  });
  assertEquals(first, { added: 1, rejected: 1 });
  assertEquals(again, { added: 0, rejected: 2 });
  assertEquals(onlyTrace(tracer).spans.size, 3);
  assertEquals(rootOf(onlyTrace(tracer)).name, "GET /");
});

Deno.test("Browser spans may arrive before the trace ends", () => {
  const { tracer } = createTestTracer();
  const root = tracer.startTrace("GET /");
  const updates: string[] = [];
  tracer.subscribe((event) => updates.push(event.type), [
    "trace:update",
    "trace:end",
  ]);
  const result = createCollector(tracer).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [clientSpan(1, root.id)],
  });
  assertEquals(result, { added: 1, rejected: 0 });
  assertEquals(updates, ["trace:update"]);
  root.end();
  assertEquals(updates, ["trace:update", "trace:end", "trace:update"]);
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(client 1)");
});

Deno.test("Browser spans create a trace if theirs is unknown or evicted", () => {
  const { tracer } = createTestTracer({ maxTraces: 1 });
  const gone = tracer.startTrace("gone");
  gone.end();
  tracer.startTrace("newer").end();
  assertEquals(
    createCollector(tracer).receive({
      type: "client:spans",
      traceId: gone.traceId,
      spans: [clientSpan(1, null)],
    }),
    { added: 1, rejected: 0 },
  );
  const { id: traceId, metadata, spans } = onlyTrace(tracer);
  assertEquals(traceId, gone.traceId);
  assertEquals(metadata, { origin: "client" });
  assertEquals([...spans.values()].map(({ name }) => name), ["client 1"]);
});

Deno.test("Requests with one id are joined, each below the fetch that called it", () => {
  const { tracer, clock } = createTestTracer();
  const traceId = "a".repeat(32);
  tracer.startTrace("GET /1", "request", { traceId, parentId: id(1) }).end();
  clock.advance(1);
  tracer.startTrace("GET /2", "request", { traceId, parentId: id(2) }).end();
  createCollector(tracer).receive({
    type: "client:spans",
    traceId,
    spans: [
      clientSpan(1, null, { startTime: EPOCH - 1, endTime: EPOCH + 9 }),
    ],
  });
  assertEquals(treeOf(onlyTrace(tracer)), "client 1(GET /1, GET /2)");
});

Deno.test("A browser span doesn't change the duration of a server's trace", () => {
  const { tracer, root, receive } = setUp();
  receive(clientSpan(1, root.id, {
    startTime: EPOCH - 5_000_000,
    endTime: EPOCH + 5_000_000,
  }));
  const { startTime, endTime, duration } = onlyTrace(tracer);
  assertEquals([startTime, endTime, duration], [EPOCH, EPOCH + 10, 10]);
});

Deno.test("A browser's times are corrected by the offset that it measured", () => {
  const { tracer, root } = setUp();
  createCollector(tracer).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [clientSpan(1, null, { events: [{ name: "e", time: EPOCH }] })],
    clock: { offset: -250.5 },
  });
  const { startTime, endTime, events } = spanNamed(
    onlyTrace(tracer),
    "client 1",
  );
  assertEquals([startTime, endTime, events[0]?.time], [
    EPOCH + 1 - 250.5,
    EPOCH + 2 - 250.5,
    EPOCH - 250.5,
  ]);
});

Deno.test("Without a measured offset, it is derived from the time of sending", () => {
  const { tracer, root } = setUp();
  createCollector(tracer, { now: () => EPOCH + 1_000 }).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: [clientSpan(1, null)],
    clock: { sentAt: EPOCH + 4_000 },
  });
  assertEquals(
    spanNamed(onlyTrace(tracer), "client 1").startTime,
    EPOCH + 1 - 3_000,
  );
});

Deno.test("A resource from the cache of a service worker is ignored", () => {
  const { tracer, clock } = createTestTracer();
  const image = tracer.startTrace("GET /image");
  clock.advance(10);
  image.end();
  const collector = createCollector(tracer);
  const link = `00-${image.traceId}-${image.id}-01`;
  const send = (
    n: number,
    startTime: number,
    clock: unknown,
    attributes: Record<string, string> = { "app.link": link },
  ) => {
    const span = clientSpan(n, null, { startTime, endTime: startTime + 1 });
    const { added } = collector.receive({
      type: "client:spans",
      traceId: "c".repeat(32),
      spans: [{ ...span, attributes }],
      clock,
    });
    return added === 1;
  };
  const late = EPOCH + 60_000;
  assertEquals(send(1, late, { offset: 0, error: 5 }), false);
  assertEquals(tracer.getTraces().length, 1);
  // The clock's error explains the difference, or it isn't known.
  assertEquals(send(2, late, { offset: 0, error: 60_000 }), true);
  assertEquals(send(3, late, { offset: 0 }), true);
  // A request that isn't known here, and the page load itself.
  const unknown = { "app.link": `00-${"d".repeat(32)}-${id(4)}-01` };
  assertEquals(send(4, late, { offset: 0, error: 5 }, unknown), true);
  const load = { "app.link": link, "app.action": "load" };
  assertEquals(send(5, late, { offset: 0, error: 5 }, load), true);
  assertEquals(send(6, EPOCH, { offset: 0, error: 5 }), true);
});

Deno.test("A message reads each trace that its spans link to once", () => {
  const { tracer, clock } = createTestTracer();
  const traces = [tracer.startTrace("GET /a"), tracer.startTrace("GET /b")];
  const images = traces.map((trace) => {
    const image = trace.child("image", "custom");
    clock.advance(10);
    image.end();
    return image;
  });
  const reads: string[] = [];
  const getTrace = tracer.getTrace.bind(tracer);
  tracer.getTrace = (id) => {
    reads.push(id);
    return getTrace(id);
  };
  const collector = createCollector(tracer);
  const unknown = "d".repeat(32);
  const send = (base: number, offset: number) => {
    const spans = Array.from({ length: 300 }, (_, i) => {
      const [traceId, spanId] = i % 3 === 2
        ? [unknown, id(1)]
        : [traces[i % 3]!.traceId, images[i % 3]!.id];
      const attributes = { "app.link": `00-${traceId}-${spanId}-01` };
      const times = { startTime: EPOCH, endTime: EPOCH + 1 };
      return clientSpan(base + i, null, { ...times, attributes });
    });
    return collector.receive({
      type: "client:spans",
      traceId: "c".repeat(32),
      spans,
      clock: { offset, error: 5 },
    });
  };
  const ids = [...traces.map(({ traceId }) => traceId), unknown];
  assertEquals(send(1_000, 0), { added: 300, rejected: 0 });
  assertEquals(reads.splice(0), ids);
  // The images had ended a minute before. The next message reads them again.
  assertEquals(send(2_000, 60_000), { added: 100, rejected: 200 });
  assertEquals(reads.splice(0), ids);
});

Deno.test("An implausible clock is ignored", () => {
  const clocks = [
    null,
    5,
    "now",
    {},
    { offset: "5" },
    { offset: NaN },
    { offset: Infinity },
    { offset: 1e15 },
    { sentAt: null },
    { sentAt: -1e15 },
  ];
  for (const clock of clocks) {
    const { tracer, root } = setUp();
    createCollector(tracer, { now: () => EPOCH }).receive({
      type: "client:spans",
      traceId: root.traceId,
      spans: [clientSpan(1, null)],
      clock,
    });
    assertEquals(
      spanNamed(onlyTrace(tracer), "client 1").startTime,
      EPOCH + 1,
    );
  }
});

Deno.test("A message of the wrong shape is rejected with a reason", () => {
  const { tracer, root } = setUp();
  const collector = createCollector(tracer);
  const { traceId } = root;
  const cases: [unknown, string][] = [
    [null, "The message must be an object"],
    [undefined, "The message must be an object"],
    ["text", "The message must be an object"],
    [[], 'type must be "client:spans"'],
    [{}, 'type must be "client:spans"'],
    [{ type: "client:span" }, 'type must be "client:spans"'],
    [
      { type: "client:spans" },
      "traceId must be 32 lower-case hex digits, not all zero",
    ],
    [
      { type: "client:spans", traceId: traceId.toUpperCase() + "X" },
      "traceId must be 32 lower-case hex digits, not all zero",
    ],
    [{ type: "client:spans", traceId, spans: {} }, "spans must be an array"],
    [{ type: "client:spans", traceId }, "spans must be an array"],
  ];
  for (const [message, error] of cases) {
    assertEquals(collector.receive(message), { added: 0, rejected: 0, error });
  }
});

Deno.test("Every field of a span is checked, and other spans of its message are accepted", () => {
  const hex = "16 lower-case hex digits, not all zero";
  const order =
    "spans[1].startTime and spans[1].endTime must be epoch milliseconds in this order";
  const cases: [Record<string, unknown> | null | number | string, string][] = [
    [null, "spans[1] must be an object"],
    [5, "spans[1] must be an object"],
    ["x", "spans[1] must be an object"],
    [{ id: undefined }, `spans[1].id must be ${hex}`],
    [{ id: 7 }, `spans[1].id must be ${hex}`],
    [{ id: "ABCDEFABCDEFABCD" }, `spans[1].id must be ${hex}`],
    [{ id: "0".repeat(17) }, `spans[1].id must be ${hex}`],
    [{ id: `${id(2)}\n` }, `spans[1].id must be ${hex}`],
    [{ parentId: 7 }, `spans[1].parentId must be null or ${hex}`],
    [{ parentId: "" }, `spans[1].parentId must be null or ${hex}`],
    [{ parentId: {} }, `spans[1].parentId must be null or ${hex}`],
    [{ name: undefined }, "spans[1].name must be a string"],
    [{ name: {} }, "spans[1].name must be a string"],
    [{ layer: "moon" }, "spans[1].layer must be one of request, routing, "],
    [{ layer: null }, "spans[1].layer must be one of request, routing, "],
    [{ layer: ["data"] }, "spans[1].layer must be one of request, routing, "],
    [
      { status: "fine" },
      "spans[1].status must be one of ok, error, timeout",
    ],
    [{ startTime: undefined }, order],
    [{ startTime: "1" }, order],
    [{ startTime: -1 }, order],
    [{ startTime: NaN }, order],
    [{ endTime: Infinity }, order],
    [{ endTime: 9e15 }, order],
    [{ endTime: EPOCH }, order],
  ];
  for (const [wrong, error] of cases) {
    const { tracer, receive } = setUp();
    const span = typeof wrong === "object" && wrong !== null
      ? clientSpan(2, null, wrong)
      : wrong;
    const result = receive(clientSpan(1, null), span, clientSpan(3, null));
    assertEquals([result.added, result.rejected], [2, 1], error);
    assert(result.error?.startsWith(error), result.error);
    assertEquals(onlyTrace(tracer).spans.size, 4);
  }
});

Deno.test("An id of zeros is invalid", () => {
  const { receive } = setUp();
  const result = receive(clientSpan(0, null));
  assertEquals([result.added, result.rejected], [0, 1]);
});

Deno.test("Attributes and events of a wrong shape are left out, and others kept", () => {
  const { tracer, receive } = setUp();
  receive(
    clientSpan(1, null, {
      attributes: {
        a: "text",
        b: null,
        c: {},
        d: [1],
        e: 1,
        f: true,
        g: Infinity,
        h: NaN,
      },
      events: [
        null,
        5,
        { name: 1, time: EPOCH },
        { name: "no time" },
        { name: "late", time: "now" },
        { name: "good", time: EPOCH, attributes: { a: {}, b: 1 } },
      ],
    }),
    clientSpan(2, null, { attributes: "x", events: { length: 5 } }),
    clientSpan(3, null, { attributes: null, events: null }),
  );
  const trace = onlyTrace(tracer);
  const { attributes, events } = spanNamed(trace, "client 1");
  assertEquals(attributes, {
    a: "text",
    e: 1,
    f: true,
    "app.origin": "client",
  });
  assertEquals(events, [
    { name: "good", time: EPOCH, attributes: { b: 1 } },
  ]);
  for (const name of ["client 2", "client 3"]) {
    assertEquals(spanNamed(trace, name).events, []);
    assertEquals(spanNamed(trace, name).attributes, {
      "app.origin": "client",
    });
  }
  // The stored trace can be read back.
  deserializeTrace(JSON.stringify(serializeTrace(trace)));
});

Deno.test("A key named __proto__ is stored as a normal key", () => {
  const { tracer, root } = setUp();
  createCollector(tracer).receive(JSON.parse(`{
    "type": "client:spans",
    "traceId": "${root.traceId}",
    "__proto__": { "clock": { "offset": 9 } },
    "spans": [{
      "__proto__": { "status": "error" },
      "id": "${id(1)}", "parentId": null, "name": "client 1",
      "startTime": ${EPOCH}, "endTime": ${EPOCH},
      "attributes": { "__proto__": "own" }
    }]
  }`));
  const span = spanNamed(onlyTrace(tracer), "client 1");
  assertEquals(span.status, "ok");
  assertEquals(span.startTime, EPOCH);
  assertEquals(Object.entries(span.attributes), [
    ["__proto__", "own"],
    ["app.origin", "client"],
  ]);
});

Deno.test("A browser can't pass its span off as the server's", () => {
  const { tracer, receive } = setUp();
  receive(clientSpan(1, null, { attributes: { "app.origin": "server" } }));
  assertEquals(
    spanNamed(onlyTrace(tracer), "client 1").attributes["app.origin"],
    "client",
  );
});

Deno.test("Long texts and many attributes and events of a browser are bounded", () => {
  const { tracer, receive } = setUp();
  const many = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`k${i}`, "v".repeat(10)]),
  );
  const long = "x".repeat(100_000);
  receive(clientSpan(1, null, {
    name: long,
    attributes: { [long]: long, ...many },
    events: Array.from({ length: 1_000 }, () => ({
      name: long,
      time: EPOCH,
      attributes: many,
    })),
  }));
  const span = [...onlyTrace(tracer).spans.values()].at(-1)!;
  assertMatch(span.name, /^x{256}… \(99744 more characters\)$/);
  assertEquals(Object.keys(span.attributes).length, 65);
  const [key, value] = Object.entries(span.attributes)[0]!;
  assertMatch(key, /^x{128}… /);
  assertMatch(String(value), /^x{4096}… /);
  assertEquals(span.events.length, 128);
  assertMatch(span.events[0]!.name, /^x{256}… /);
  assertEquals(Object.keys(span.events[0]!.attributes!).length, 16);
});

Deno.test("Names, queries and values that a browser reports are redacted", () => {
  const { tracer, receive } = setUp();
  const url = "https://ada:pw@cdn.example/a.png";
  const redacted = "https://REDACTED:REDACTED@cdn.example/a.png";
  receive(clientSpan(1, null, {
    name: `img ${url}`,
    attributes: { "url.query": "state=abc&page=2", "url.full": url },
    events: [{ name: url, time: EPOCH, attributes: { token: "token=abc" } }],
  }));
  const span = spanNamed(onlyTrace(tracer), `img ${redacted}`);
  assertEquals(span.attributes["url.query"], "state=REDACTED&page=2");
  assertEquals(span.attributes["url.full"], redacted);
  const [event] = span.events;
  assertEquals(event!.name, redacted);
  assertEquals(event!.attributes, { token: "token=REDACTED" });
});

Deno.test("A message with too many spans is read up to the limit, and an error says so", () => {
  const { receive } = setUp();
  const result = receive(
    ...Array.from({ length: 501 }, (_, i) => clientSpan(i + 1, null)),
  );
  assertEquals(result, {
    added: 498,
    rejected: 3,
    error: "spans must be at most 500, received 501",
  });
});

Deno.test("Browser spans that don't fit into the trace are counted", () => {
  const { tracer, receive } = setUp();
  const spans = (from: number) =>
    Array.from({ length: 300 }, (_, i) => clientSpan(from + i, null));
  assertEquals(receive(...spans(1)).added, 300);
  assertEquals(receive(...spans(1_001)).added, 198);
  const trace = onlyTrace(tracer);
  assertEquals(trace.spans.size, 500);
  assertEquals(trace.metadata.droppedSpans, 102);
});

Deno.test("Browser spans that fill a trace early give way to the server's spans", () => {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("GET /");
  const step = root.child("step", "data");
  const { added } = createCollector(tracer, { now: () => EPOCH }).receive({
    type: "client:spans",
    traceId: root.traceId,
    spans: Array.from({ length: 500 }, (_, i) => clientSpan(i + 1, root.id)),
  });
  assertEquals(added, 500);
  clock.advance(10);
  step.end();
  root.end();
  const trace = onlyTrace(tracer);
  assertEquals(trace.spans.size, 500);
  assertEquals(trace.spans.get(step.id)?.parentId, root.id);
  assertEquals(trace.spans.has(id(498)), true);
  assertEquals(trace.spans.has(id(499)), false, "the last ones give way");
  assertEquals(trace.metadata.droppedSpans, 2);
});

Deno.test("Data from browsers, including events, stays within the bound of a trace", () => {
  const { tracer, receive } = setUp();
  const events = Array.from({ length: 60 }, () => ({
    name: "e",
    time: EPOCH,
    attributes: { text: "x".repeat(4_000) },
  }));
  for (let i = 1; i < 100; i++) receive(clientSpan(i, null, { events }));
  const trace = onlyTrace(tracer);
  assert(JSON.stringify(serializeTrace(trace)).length < 2 * 1024 * 1024);
  assert(trace.metadata.droppedSpans! > 90);
});
