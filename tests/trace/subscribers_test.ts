import { assertEquals, assertStrictEquals } from "@std/assert";
import { createTracer, type TraceEvent } from "@quartet/kit/trace";
import { createTestTracer, EPOCH, onlyTrace } from "./fakes.ts";

/** Runs `fn` and returns its calls of `console.error`. */
async function errorsOf(
  fn: () => void | Promise<void>,
): Promise<unknown[][]> {
  const original = console.error;
  const calls: unknown[][] = [];
  console.error = (...args) => calls.push(args);
  try {
    await fn();
  } finally {
    console.error = original;
  }
  return calls;
}

Deno.test("subscribe() passes on each kind of event, in order and with its fields", () => {
  const { tracer, clock } = createTestTracer();
  const events: TraceEvent[] = [];
  tracer.subscribe((event) => events.push(event));

  const root = tracer.startTrace("GET /", "request", {
    attributes: { "url.path": "/" },
  });
  clock.advance(1);
  const child = root.child("step", "data", { n: 1 });
  child.event("happened", { m: 2 });
  clock.advance(1);
  child.end();
  root.end();
  const client = {
    id: "00f067aa0ba902b7",
    parentId: null,
    name: "paint",
    layer: "islands" as const,
    status: "ok" as const,
    startTime: EPOCH,
    endTime: EPOCH + 1,
    attributes: {},
    events: [],
  };
  tracer.mergeClientSpans(root.traceId, [client]);

  const traceId = root.traceId;
  const open = { status: "ok", duration: 0, events: [], children: [] };
  const rootStart = {
    ...open,
    id: root.id,
    traceId,
    parentId: null,
    name: "GET /",
    layer: "request",
    startTime: EPOCH,
    endTime: EPOCH,
    attributes: { "url.path": "/" },
  };
  const childStart = {
    ...open,
    id: child.id,
    traceId,
    parentId: root.id,
    name: "step",
    layer: "data",
    startTime: EPOCH + 1,
    endTime: EPOCH + 1,
    attributes: { n: 1 },
  };
  const event = { name: "happened", time: EPOCH + 1, attributes: { m: 2 } };
  assertEquals<unknown>(events.slice(0, 5), [
    { type: "trace:start", traceId, span: rootStart },
    { type: "span:start", traceId, span: childStart },
    { type: "span:event", traceId, spanId: child.id, event },
    {
      type: "span:end",
      traceId,
      span: { ...childStart, endTime: EPOCH + 2, duration: 1, events: [event] },
    },
    {
      type: "span:end",
      traceId,
      span: { ...rootStart, endTime: EPOCH + 2, duration: 2 },
    },
  ]);
  const [end, update, merge] = events.slice(5);
  assertEquals(end?.type, "trace:end");
  assertEquals(update?.type, "trace:update");
  assertEquals(merge, {
    type: "span:merge",
    traceId,
    spans: [{
      ...client,
      traceId,
      duration: 1,
      attributes: { "app.origin": "client" },
      children: [],
    }],
  });
  assertEquals(events.length, 8);
  if (end?.type !== "trace:end" || update?.type !== "trace:update") return;
  assertEquals(end.trace.spans.size, 2);
  assertEquals(update.trace.spans.size, 3);
  assertStrictEquals(update.trace, onlyTrace(tracer));
});

Deno.test("trace:update joins the trace once, when that is read", () => {
  const tracer = createTracer();
  let reads = 0;
  const { getTrace } = tracer;
  tracer.getTrace = (id) => {
    reads++;
    return getTrace.call(tracer, id);
  };
  const updates: TraceEvent[] = [];
  tracer.subscribe((event) => updates.push(event), ["trace:update"]);
  const traceId = "1".padStart(32, "0");
  for (let i = 1; i <= 100; i++) {
    const parentId = String(i).padStart(16, "0");
    tracer.startTrace("GET /", "request", { traceId, parentId }).end();
  }
  assertEquals(reads, 0);

  const last = updates.at(-1);
  if (last?.type !== "trace:update") throw new Error("no update");
  assertEquals(last.traceId, traceId);
  assertEquals(last.trace.spans.size, 100);
  assertStrictEquals(last.trace, onlyTrace(tracer));
  assertEquals(reads, 1);
});

Deno.test("subscribe() reports the end of spans that their trace closed", () => {
  const tracer = createTracer();
  const ended: string[] = [];
  tracer.subscribe((event) => {
    if (event.type === "span:end") {
      ended.push(`${event.span.name} ${event.span.status}`);
    }
  });
  const root = tracer.startTrace("root");
  root.child("open", "custom");
  root.end();
  assertEquals(ended, ["open timeout", "root ok"]);
});

Deno.test("subscribe() passes on only the requested kinds", () => {
  const tracer = createTracer();
  const types: string[] = [];
  tracer.subscribe((event) => types.push(event.type), [
    "trace:end",
    "span:start",
  ]);
  tracer.withSpan("root", "custom", () => {
    tracer.withSpan("child", "custom", (span) => span.event("e"));
  });
  assertEquals(types, ["span:start", "trace:end"]);
});

Deno.test("subscribe() returns a function that unsubscribes, also when called twice", () => {
  const tracer = createTracer();
  let count = 0;
  const stop = tracer.subscribe(() => count++);
  tracer.startTrace("a").end();
  assertEquals(count, 3);
  stop();
  stop();
  tracer.startTrace("b").end();
  assertEquals(count, 3);
});

Deno.test("A function that subscribes twice is called twice, and unsubscribing once keeps the other", () => {
  const tracer = createTracer();
  let count = 0;
  const listener = () => count++;
  const stop = tracer.subscribe(listener, ["trace:end"]);
  tracer.subscribe(listener, ["trace:end"]);
  tracer.startTrace("a").end();
  assertEquals(count, 2);
  stop();
  tracer.startTrace("b").end();
  assertEquals(count, 3);
});

Deno.test("A subscriber may unsubscribe itself or another during a call", () => {
  const tracer = createTracer();
  const received: string[] = [];
  const stopFirst = tracer.subscribe(() => {
    received.push("first");
    stopFirst();
    stopThird();
  }, ["trace:end"]);
  tracer.subscribe(() => received.push("second"), ["trace:end"]);
  const stopThird = tracer.subscribe(() => received.push("third"), [
    "trace:end",
  ]);

  tracer.startTrace("a").end();
  tracer.startTrace("b").end();

  assertEquals(received, ["first", "second", "second"]);
});

Deno.test("A subscriber that throws doesn't affect others and is reported once", async () => {
  const tracer = createTracer();
  const received: string[] = [];
  const failure = new Error("listener");
  tracer.subscribe(() => {
    throw failure;
  });
  tracer.subscribe((event) => received.push(event.type), ["trace:end"]);

  const errors = await errorsOf(() => {
    for (let i = 0; i < 3; i++) {
      assertEquals(tracer.withSpan("job", "custom", () => 1), 1);
    }
  });

  assertEquals(received, ["trace:end", "trace:end", "trace:end"]);
  assertEquals(tracer.getTraces().length, 3);
  assertEquals(errors, [["A subscriber of the tracer threw:", failure]]);
});

Deno.test("An async subscriber that rejects doesn't affect others and is reported once", async () => {
  const tracer = createTracer();
  const failure = new Error("listener");
  tracer.subscribe(() => Promise.reject(failure), ["trace:end"]);

  const errors = await errorsOf(async () => {
    tracer.startTrace("a").end();
    tracer.startTrace("b").end();
    await new Promise((resolve) => setTimeout(resolve));
  });

  assertEquals(errors, [["A subscriber of the tracer threw:", failure]]);
});

Deno.test("A subscriber receives copies that later writes don't change", () => {
  const tracer = createTracer();
  const seen: unknown[] = [];
  tracer.subscribe((event) => {
    if (event.type === "span:start") seen.push(event.span.attributes);
  });
  const root = tracer.startTrace("root");
  root.child("child", "custom", { n: 1 }).setAttribute("n", 2);
  root.end();
  assertEquals(seen, [{ n: 1 }]);
});
