import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { format } from "node:util";
import {
  createTracer,
  deserializeTrace,
  getActiveSpan,
  type Layer,
  serializeTrace,
  type SpanData,
  SpanImpl,
  TracerImpl,
  type TracerOptions,
} from "@quartet/kit/trace";
import {
  createTestTracer,
  EPOCH,
  onlyTrace,
  rootOf,
  spanNamed,
  treeOf,
} from "./fakes.ts";

const LAYERS: Layer[] = [
  "request",
  "routing",
  "data",
  "forms",
  "signals",
  "rpc",
  "database",
  "auth",
  "islands",
  "build",
  "errors",
  "custom",
];

Deno.test("createTracer() creates a TracerImpl whose spans are SpanImpl", () => {
  const tracer = createTracer();
  const span = tracer.startTrace("job");
  assert(tracer instanceof TracerImpl);
  assert(span instanceof SpanImpl);
  span.end();
});

Deno.test("createTracer() keeps 200 traces of 500 spans by default", () => {
  const tracer = createTracer();
  for (let i = 0; i < 201; i++) tracer.startTrace(`job ${i}`).end();
  const root = tracer.startTrace("large");
  for (let i = 0; i < 500; i++) root.child("step", "custom").end();
  root.end();

  const traces = tracer.getTraces();

  assertEquals(traces.length, 200);
  assertEquals(traces.at(-1)?.spans.size, 500);
  assertEquals(traces.at(-1)?.metadata.droppedSpans, 1);
});

Deno.test("createTracer() names the wrong option, what it must be and what it received", () => {
  const cases: [TracerOptions, string][] = [
    [{ maxTraces: 0 }, "maxTraces must be a positive integer, received 0"],
    [{ maxTraces: -1 }, "maxTraces must be a positive integer, received -1"],
    [{ maxTraces: 1.5 }, "maxTraces must be a positive integer, received 1.5"],
    [{ maxTraces: NaN }, "maxTraces must be a positive integer, received NaN"],
    [
      { maxTraces: Infinity },
      "maxTraces must be a positive integer, received Infinity",
    ],
    [
      { maxSpansPerTrace: 0 },
      "maxSpansPerTrace must be a positive integer, received 0",
    ],
    [
      { minDurationMs: -1 },
      "minDurationMs must be a number of milliseconds, 0 or more, or Infinity, received -1",
    ],
    [
      { minDurationMs: NaN },
      "minDurationMs must be a number of milliseconds, 0 or more, or Infinity, received NaN",
    ],
    [
      { layers: ["data", "databse" as Layer] },
      `layers must be one of "${LAYERS.join('", "')}", received "databse"`,
    ],
  ];
  for (const [options, message] of cases) {
    assertThrows(
      () => createTracer(options),
      TypeError,
      `Cannot create tracer: ${message}`,
    );
  }
});

Deno.test("getTraces() returns the newest traces, oldest first, at and over the bound", () => {
  const tracer = createTracer({ maxTraces: 3 });
  const names = () => tracer.getTraces().map((trace) => rootOf(trace).name);
  const expected: string[] = [];
  assertEquals(names(), []);
  for (let i = 1; i <= 10; i++) {
    tracer.startTrace(`job ${i}`).end();
    expected.push(`job ${i}`);
    if (expected.length > 3) expected.shift();
    assertEquals(names(), expected);
  }
});

Deno.test("getTraces() orders traces by their end and leaves out running ones", () => {
  const tracer = createTracer();
  const slow = tracer.startTrace("slow");
  const fast = tracer.startTrace("fast");
  assertEquals(tracer.getTraces(), []);
  fast.end();
  slow.end();
  assertEquals(
    tracer.getTraces().map((trace) => rootOf(trace).name),
    ["fast", "slow"],
  );
});

Deno.test("getTrace() finds running and stored traces, and joins those with one id", () => {
  const tracer = createTracer({ maxTraces: 1 });
  const first = tracer.startTrace("first", "request", {
    traceId: "a".repeat(32),
  });
  assertEquals(tracer.getTrace(first.traceId)?.rootSpanId, first.id);
  first.end();
  assertEquals(tracer.getTrace(first.traceId)?.rootSpanId, first.id);

  const second = tracer.startTrace("second", "request", {
    traceId: "a".repeat(32),
  });
  const names = () => treeOf(tracer.getTrace(first.traceId)!);
  assertEquals(names(), "first(second)");
  second.end();
  assertEquals(names(), "first(second)");
  assertEquals(tracer.getTrace("b".repeat(32)), undefined);

  tracer.startTrace("third").end();
  assertEquals(tracer.getTrace(first.traceId), undefined);
});

Deno.test("getTrace() of a running trace shows open spans without duration", () => {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("job");
  clock.advance(3);
  const child = root.child("step", "custom");
  clock.advance(4);

  const trace = tracer.getTrace(root.traceId)!;

  assertEquals(trace.duration, 0);
  assertEquals(trace.spans.get(child.id)?.startTime, EPOCH + 3);
  assertEquals(trace.spans.get(child.id)?.endTime, EPOCH + 3);
  assertEquals(trace.spans.get(child.id)?.duration, 0);
  root.end();
  assertEquals(tracer.getTrace(root.traceId)?.duration, 7);
});

Deno.test("A trace's record has all fields of TraceData", () => {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("GET /a", "request", {
    attributes: {
      "http.request.method": "GET",
      "url.path": "/a",
      "http.route": "/:x",
      "http.response.status_code": 204,
      "nothing": undefined,
    },
    traceId: "1".repeat(32),
    parentId: "2".repeat(16),
  });
  clock.advance(1);
  const child = root.child("db.query", "database", { rows: 3, cached: false });
  clock.advance(1);
  child.event("sent", { bytes: 12 });
  child.event("received");
  clock.advance(1);
  child.end();
  root.end();

  const trace = onlyTrace(tracer);

  assertEquals(trace, {
    id: "1".repeat(32),
    rootSpanId: root.id,
    startTime: EPOCH,
    endTime: EPOCH + 3,
    duration: 3,
    metadata: {
      origin: "server",
      method: "GET",
      pathname: "/a",
      statusCode: 204,
      routePattern: "/:x",
    },
    spans: new Map<string, SpanData>([
      [root.id, {
        id: root.id,
        traceId: "1".repeat(32),
        parentId: "2".repeat(16),
        name: "GET /a",
        layer: "request",
        status: "ok",
        startTime: EPOCH,
        endTime: EPOCH + 3,
        duration: 3,
        attributes: {
          "http.request.method": "GET",
          "url.path": "/a",
          "http.route": "/:x",
          "http.response.status_code": 204,
        },
        events: [],
        children: [child.id],
      }],
      [child.id, {
        id: child.id,
        traceId: "1".repeat(32),
        parentId: root.id,
        name: "db.query",
        layer: "database",
        status: "ok",
        startTime: EPOCH + 1,
        endTime: EPOCH + 3,
        duration: 2,
        attributes: { rows: 3, cached: false },
        events: [
          { name: "sent", time: EPOCH + 2, attributes: { bytes: 12 } },
          { name: "received", time: EPOCH + 2 },
        ],
        children: [],
      }],
    ]),
  });
});

Deno.test("A span can have each of the twelve layers", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("job", "build");
  for (const layer of LAYERS) root.child(layer, layer).end();
  root.end();

  const trace = onlyTrace(tracer);

  assertEquals(rootOf(trace).layer, "build");
  for (const layer of LAYERS) {
    assertEquals(spanNamed(trace, layer).layer, layer);
  }
});

Deno.test("Wrong names and layers neither fail the app nor make its trace unreadable", () => {
  const tracer = createTracer();
  const untyped = (value: unknown) => value as string & Layer;
  const { warn } = console;
  const warnings: string[] = [];
  console.warn = (...args: unknown[]) => warnings.push(format(...args));
  try {
    const span = tracer.startTrace(untyped(undefined), untyped("db"));
    span.event(untyped(null));
    tracer.withSpan("query", untyped("sql"), () => {}, { parent: span });
    span.end();
  } finally {
    console.warn = warn;
  }

  const text = JSON.stringify(serializeTrace(onlyTrace(tracer)));
  const { spans } = deserializeTrace(JSON.parse(text));

  const [root, query] = [...spans.values()];
  assertEquals([root!.name, root!.layer], ["undefined", "custom"]);
  assertEquals([query!.name, query!.layer], ["query", "custom"]);
  assertEquals(root!.events.map(({ name }) => name), ["null"]);
  assertEquals(warnings, [
    `Traces: the layer of span "undefined" is recorded as custom. It must be one of ${
      LAYERS.join(", ")
    }, received "db".`,
  ]);
});

Deno.test("startTrace() defaults to the request layer, and startSpan() to the custom layer", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("a");
  tracer.startSpan("b", undefined, { parent: root }).end();
  root.end();
  const trace = onlyTrace(tracer);
  assertEquals(spanNamed(trace, "a").layer, "request");
  assertEquals(spanNamed(trace, "b").layer, "custom");
});

Deno.test("startSpan() without an active span starts a trace of its own", () => {
  const tracer = createTracer();
  tracer.startSpan("first", "data", { attributes: { n: 1 } }).end();
  tracer.startSpan("second", "data").end();

  const [first, second] = tracer.getTraces();

  assertEquals(treeOf(first!), "first");
  assertEquals(rootOf(first!).attributes, { n: 1 });
  assertEquals(treeOf(second!), "second");
  assert(first!.id !== second!.id);
});

Deno.test("withSpan() returns the function's result and then ends the span", () => {
  const { tracer, clock } = createTestTracer();

  const result = tracer.withSpan("job", "custom", (span) => {
    assertStrictEquals(getActiveSpan(), span);
    assertStrictEquals(tracer.activeSpan(), span);
    clock.advance(2);
    return "result";
  }, { attributes: { n: 1 } });

  assertEquals(result, "result");
  assertEquals(tracer.activeSpan(), undefined);
  assertEquals(onlyTrace(tracer).duration, 2);
  assertEquals(rootOf(onlyTrace(tracer)).attributes, { n: 1 });
});

Deno.test("withSpan() ends the span of an async function when its promise settles", async () => {
  const { tracer, clock } = createTestTracer();
  const gate = Promise.withResolvers<number>();
  const result = tracer.withSpan("job", "custom", () => gate.promise);
  clock.advance(5);
  assertEquals(tracer.getTraces(), []);

  gate.resolve(42);

  assertEquals(await result, 42);
  assertEquals(onlyTrace(tracer).duration, 5);
});

Deno.test("withSpan() records and rethrows the function's error, sync and async", async () => {
  const tracer = createTracer();
  const error = new RangeError("too far");

  const thrown = assertThrows(() =>
    tracer.withSpan("sync", "custom", () => {
      throw error;
    })
  );
  const rejected = await assertRejects(() =>
    tracer.withSpan("async", "custom", () => Promise.reject(error))
  );

  assertStrictEquals(thrown, error);
  assertStrictEquals(rejected, error);
  for (const trace of tracer.getTraces()) {
    const { status, attributes, events } = rootOf(trace);
    assertEquals(status, "error");
    assertEquals(attributes, { "error.type": "RangeError" });
    assertEquals(events.map((event) => event.name), ["exception"]);
    assertEquals(events[0]?.attributes?.["exception.type"], "RangeError");
    assertEquals(events[0]?.attributes?.["exception.message"], "too far");
    assertMatch(
      String(events[0]?.attributes?.["exception.stacktrace"]),
      /^RangeError: too far\n\s+at /,
    );
  }
});

Deno.test("withSpan() treats a thrown Response as a result, not as a failure", async () => {
  const tracer = createTracer();
  const redirect = Response.redirect("http://localhost/");
  assertStrictEquals(
    await tracer.withSpan("guard", "auth", () => Promise.reject(redirect))
      .catch((error) => error),
    redirect,
  );
  assertEquals(rootOf(onlyTrace(tracer)).status, "ok");
  assertEquals(rootOf(onlyTrace(tracer)).events, []);
});

Deno.test("withSpan() starts a lazy query once and keeps its span open until it is done", async () => {
  const tracer = createTracer();
  let started = 0;
  const lazy: PromiseLike<string> = {
    then(resolve, reject) {
      started++;
      return Promise.resolve("rows").then(resolve, reject);
    },
  };

  const result = tracer.withSpan("query", "database", () => lazy);

  assertEquals(tracer.getTraces(), []);
  assertEquals(await result, "rows");
  assertEquals(started, 1);
  assertEquals(tracer.getTraces().length, 1);
});

Deno.test("withSpan() uses the given parent, whatever span is active", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("job");
  const other = root.child("other", "custom");
  tracer.withSpan("active", "custom", () => {
    tracer.withSpan("given", "custom", () => {
      tracer.withSpan("below given", "custom", () => {});
    }, { parent: other });
    tracer.withSpan("below active", "custom", () => {});
  }, { parent: root });
  other.end();
  root.end();

  assertEquals(
    treeOf(onlyTrace(tracer)),
    "job(other(given(below given)), active(below active))",
  );
});

Deno.test("child() of an ended span belongs to its nearest open ancestor", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("root");
  const a = root.child("a", "custom");
  const b = a.child("b", "custom");
  const c = b.child("c", "custom");
  c.end();
  b.end();
  c.child("late below a", "custom").end();
  a.end();
  c.child("late below root", "custom").end();
  root.end();

  assertEquals(
    treeOf(onlyTrace(tracer)),
    "root(a(b(c), late below a), late below root)",
  );
});

Deno.test("Nothing is recorded after a trace has ended", () => {
  const tracer = createTracer();
  const root = tracer.startTrace("root");
  const child = root.child("child", "custom");
  child.end();
  root.end();
  const before = structuredClone(onlyTrace(tracer));

  for (const span of [root, child]) {
    span.setAttribute("late", 1);
    span.event("late");
    span.error(new Error("late"));
    const late = span.child("late", "custom");
    late.setAttribute("late", 1);
    late.child("later", "custom").end();
    late.end();
    span.end();
    assertEquals(
      tracer.withSpan("late", "custom", () => 7, { parent: span }),
      7,
    );
  }

  assertEquals(structuredClone(onlyTrace(tracer)), before);
});

Deno.test("Calls on an ended span do nothing", () => {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("root");
  const child = root.child("child", "custom", { n: 1 });
  clock.advance(1);
  child.end();
  clock.advance(1);
  child.setAttribute("n", 2);
  child.event("late");
  child.error(new Error("late"));
  child.end();
  root.end();

  const { attributes, events, status, duration } = spanNamed(
    onlyTrace(tracer),
    "child",
  );

  assertEquals(attributes, { n: 1 });
  assertEquals(events, []);
  assertEquals(status, "ok");
  assertEquals(duration, 1);
});

Deno.test("Spans that are never ended are closed as timeout with their trace", () => {
  const { tracer, clock } = createTestTracer();
  const root = tracer.startTrace("root");
  const open = root.child("open", "custom");
  open.child("open below", "custom");
  const failed = root.child("failed", "custom");
  failed.error(new Error("no"));
  root.child("ended", "custom").end();
  clock.advance(8);
  root.end();

  const trace = onlyTrace(tracer);
  const statuses = [...trace.spans.values()].map((span) => [
    span.name,
    span.status,
    span.endTime,
  ]);

  assertEquals(statuses, [
    ["root", "ok", EPOCH + 8],
    ["open", "timeout", EPOCH + 8],
    ["open below", "timeout", EPOCH + 8],
    ["failed", "error", EPOCH + 8],
    ["ended", "ok", EPOCH],
  ]);
  open.setAttribute("late", true);
  assertEquals(spanNamed(onlyTrace(tracer), "open").attributes, {});
});

Deno.test("Excluded layers are not recorded, and their children move up", () => {
  const tracer = createTracer({ layers: ["request", "database"] });
  tracer.withSpan("root", "request", (root) => {
    tracer.withSpan("loader", "data", (loader) => {
      assertStrictEquals(loader.traceId, root.traceId);
      assertStrictEquals(loader.id, root.id);
      assertStrictEquals(loader.root, root);
      loader.setAttribute("n", 1);
      loader.event("nothing");
      loader.error(new Error("nothing"));
      tracer.withSpan("query", "database", () => {
        tracer.withSpan("inner", "custom", (inner) => {
          inner.child("query below", "database").end();
        });
      });
    });
  });

  const trace = onlyTrace(tracer);

  assertEquals(treeOf(trace), "root(query(query below))");
  assertEquals(rootOf(trace).attributes, {});
  assertEquals(rootOf(trace).status, "ok");
  assertEquals(trace.metadata.droppedSpans, undefined);
});

Deno.test("A trace's root is recorded even if its layer is excluded", () => {
  const tracer = createTracer({ layers: [] });
  const root = tracer.startTrace("root", "request");
  root.child("child", "data").end();
  root.end();
  assertEquals(treeOf(onlyTrace(tracer)), "root");
});

Deno.test("Traces shorter than minDurationMs are not stored, and subscribers are notified", () => {
  const { tracer, clock } = createTestTracer({ minDurationMs: 10 });
  const ended: string[] = [];
  const discarded: string[] = [];
  tracer.subscribe((event) => {
    if (event.type === "trace:end") ended.push(rootOf(event.trace).name);
    if (event.type === "trace:discard") discarded.push(event.rootSpanId);
  });
  for (const duration of [9.99, 10, 0, 11]) {
    const span = tracer.startTrace(`took ${duration}`);
    clock.advance(duration);
    span.end();
    assertEquals(discarded.splice(0), duration < 10 ? [span.id] : []);
    if (duration < 10) assertEquals(tracer.getTrace(span.traceId), undefined);
  }
  assertEquals(ended, ["took 10", "took 11"]);
  assertEquals(
    tracer.getTraces().map((trace) => rootOf(trace).name),
    ended,
  );
});

Deno.test("Span.continuation() adds to the same trace, in layers that are recorded", () => {
  const tracer = createTracer({ layers: ["request", "rpc"] });
  const span = tracer.startTrace("GET /socket", "request");
  const open = span.continuation();
  span.end();
  open("first", "rpc").end();
  open("second", "rpc", { "rpc.method": "news" }).end();
  open("third", "data").end();
  const { id, spans } = onlyTrace(tracer);
  assertEquals(id, span.traceId);
  assertEquals(
    [...spans.values()].slice(1).map((
      { name, traceId, parentId, attributes },
    ) => [name, traceId === id, parentId === span.id, attributes]),
    [
      ["first", true, true, {}],
      ["second", true, true, { "rpc.method": "news" }],
    ],
  );
});

Deno.test("A string thrown through several spans is recorded once, where it was thrown", () => {
  const tracer = createTracer();
  let caught: unknown;
  try {
    tracer.withSpan(
      "root",
      "request",
      () =>
        tracer.withSpan("inner", "data", () => {
          // deno-lint-ignore no-throw-literal -- third-party code may
          throw "no";
        }),
    );
  } catch (error) {
    caught = error;
  }
  assertEquals(caught, "no");
  const trace = onlyTrace(tracer);
  assertEquals(spanNamed(trace, "inner").events.length, 1);
  assertEquals(spanNamed(trace, "root").events.length, 0);
  assertEquals(spanNamed(trace, "root").status, "error");
});

Deno.test("An error thrown through several spans is recorded once, where it was thrown", () => {
  const tracer = createTracer();
  const error = new TypeError("inner");
  assertThrows(() =>
    tracer.withSpan(
      "root",
      "request",
      () =>
        tracer.withSpan("middle", "data", () =>
          tracer.withSpan("inner", "database", () => {
            throw error;
          })),
    )
  );

  const trace = onlyTrace(tracer);

  for (const name of ["root", "middle", "inner"]) {
    const span = spanNamed(trace, name);
    assertEquals(span.status, "error");
    assertEquals(span.attributes, { "error.type": "TypeError" });
    assertEquals(span.events.length, name === "inner" ? 1 : 0);
  }
});

Deno.test("Concurrent errors are recorded once each", async () => {
  const tracer = createTracer();
  const gate = Promise.withResolvers<void>();
  const fail = async (name: string) => {
    await gate.promise;
    throw new Error(name);
  };
  const done = tracer.withSpan("root", "request", () =>
    Promise.all([
      tracer.withSpan("a", "data", () => fail("a")),
      tracer.withSpan("b", "data", () => fail("b")),
    ]));
  gate.resolve();
  await assertRejects(() => done, Error, "a");

  const recorded = [...onlyTrace(tracer).spans.values()].flatMap((span) =>
    span.events.map((event) => [
      span.name,
      event.attributes?.["exception.message"],
    ])
  );

  assertEquals(recorded.sort(), [["a", "a"], ["b", "b"]]);
});

Deno.test("Span.error() describes any thrown value and never throws", () => {
  const tracer = createTracer();
  const hostile = {
    toString() {
      throw new Error("no text");
    },
  };
  const bad = new Error("x");
  Object.defineProperty(bad, "message", {
    get() {
      throw new Error("no message");
    },
  });
  class Custom extends Error {
    override name = "Custom";
  }
  const cases: [unknown, string, string][] = [
    ["text", "string", "text"],
    [42, "number", "42"],
    [10n, "bigint", "10"],
    [Symbol("s"), "symbol", "Symbol(s)"],
    [{ a: 1 }, "object", "[object Object]"],
    [{ message: 1 }, "object", "[object Object]"],
    [{ code: "P1", message: "pw=x gone" }, "object", "pw=REDACTED gone"],
    [hostile, "object", "(a thrown value that can't be described)"],
    [Object.create(null), "object", "(a thrown value that can't be described)"],
    [bad, "object", "(a thrown value that can't be described)"],
    [new Custom("mine"), "Custom", "mine"],
    [Object.assign(new Error("bare"), { name: "" }), "Error", "bare"],
    [new DOMException("gone", "AbortError"), "AbortError", "gone"],
  ];
  for (const [thrown, type, message] of cases) {
    const span = tracer.startTrace("job");
    span.error(thrown);
    span.end();
    const { status, attributes, events } = rootOf(tracer.getTraces().at(-1)!);
    assertEquals(status, "error");
    assertEquals(attributes["error.type"], type);
    assertEquals(events[0]?.attributes?.["exception.type"], type);
    assertEquals(events[0]?.attributes?.["exception.message"], message);
  }
});

Deno.test("Span.error() without an error only marks the span as failed", () => {
  const tracer = createTracer();
  const span = tracer.startTrace("job");
  span.error();
  span.end();
  const { status, events, attributes } = rootOf(onlyTrace(tracer));
  assertEquals(status, "error");
  assertEquals(events, []);
  assertEquals(attributes, {});
});

Deno.test("Span.root is the request's span, also for a request inside another", () => {
  const tracer = createTracer();
  const outer = tracer.startTrace("GET /outer", "request");
  const step = outer.child("step", "custom");
  const inner = step.child("GET /inner", "request");
  const below = inner.child("a", "data").child("b", "database");

  assertStrictEquals(outer.root, outer);
  assertStrictEquals(step.root, outer);
  assertStrictEquals(inner.root, inner);
  assertStrictEquals(below.root, inner);
  outer.end();

  const job = tracer.startTrace("job", "custom");
  assertStrictEquals(job.child("step", "data").root, job);
  job.end();
});

Deno.test("mergeClientSpans() without spans creates no trace", () => {
  const tracer = createTracer();
  assertEquals(tracer.mergeClientSpans("a".repeat(32), []), 0);
  assertEquals(tracer.getTraces(), []);
});

Deno.test("Traces of thousands of requests that never end are evicted, oldest first", () => {
  const tracer = createTracer({ maxTraces: 5 });
  const spans = Array.from(
    { length: 10_003 },
    (_, i) => tracer.startTrace(`request ${i}`),
  );

  const traces = tracer.getTraces();

  assertEquals(
    traces.map((trace) => [rootOf(trace).name, rootOf(trace).status]),
    [["request 0", "timeout"], ["request 1", "timeout"], [
      "request 2",
      "timeout",
    ]],
  );
  for (const span of spans) span.end();
});

Deno.test("The cause of an error is recorded with its stack", () => {
  const tracer = createTracer();
  const span = tracer.startTrace("job");
  const cause = new TypeError("connection refused", { cause: "port closed" });
  span.error(new Error("no country", { cause }));
  span.end();
  const [event] = rootOf(tracer.getTraces()[0]!).events;
  assertMatch(
    String(event!.attributes!["exception.stacktrace"]),
    /^Error: no country\n[^]*\nCaused by: TypeError: connection refused\n[^]*\nCaused by: port closed$/,
  );
});

Deno.test("The errors of an AggregateError are recorded with their stacks, also in a cause", () => {
  const tracer = createTracer();
  const span = tracer.startTrace("job");
  const refused = new Error("refused by redis://:pw@cache");
  const cause = new AggregateError([refused, "token=abc"], "");
  span.error(new TypeError("fetch failed", { cause }));
  span.end();
  const [event] = rootOf(tracer.getTraces()[0]!).events;
  assertMatch(
    String(event!.attributes!["exception.stacktrace"]),
    /\nCaused by: AggregateError[^]*\nOne of its errors: Error: refused by redis:\/\/REDACTED:REDACTED@cache\n[^]*\nOne of its errors: token=REDACTED$/,
  );
});

Deno.test("withSpan() returns an object that throws for each key, and ends the span", () => {
  const tracer = createTracer();
  const strict = new Proxy({}, {
    get(_target, key) {
      throw new TypeError(`There is no ${String(key)}`);
    },
  });
  const result = tracer.withSpan("settings", "custom", () => strict);
  assert(result === strict);
  assertEquals(rootOf(tracer.getTraces()[0]!).name, "settings");
});
