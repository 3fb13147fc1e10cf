import { assert, assertEquals } from "@std/assert";
import { observe } from "@quartet/kit/app";
import {
  createCaller,
  createRouter,
  procedure,
  RPCError,
} from "@quartet/kit/rpc";
import {
  createTracer,
  setActiveSpan,
  type SpanData,
  type TraceData,
  tracePlugin,
  type TracerImpl,
} from "@quartet/kit/trace";
import { z } from "zod";
import {
  connect,
  errorLog,
  serveRouter,
  subscribe,
  type TestServer,
  until,
} from "./helpers.ts";

const inner = createRouter({
  nested: { ping: procedure.query(() => "pong") },
});
const gate: { open?: () => void } = {};

const router = createRouter({
  ping: procedure.query(() => observe("inside", "custom", () => "pong")),
  hidden: procedure.use(({ next }) => {
    setActiveSpan(undefined);
    return next();
  }).query(() => observe("inside", "custom", (span) => span === undefined)),
  sized: procedure.query(z.object({ size: z.number() }), () => "sized"),
  many: procedure.query(
    z.object({ list: z.array(z.object({ n: z.number() })) }),
    () => "many",
  ),
  whole: procedure.query(z.string(), () => "whole"),
  thrown: procedure.query({
    parse(): string {
      throw new Error("refused");
    },
  }, () => "thrown"),
  write: procedure.mutation(async () => {
    await Promise.resolve();
  }),
  conflict: procedure.query(() => {
    throw new RPCError("CONFLICT", "Changed by somebody", 409);
  }),
  busy: procedure.query(() => {
    throw new RPCError("BUSY", "Come back later", 503);
  }),
  broken: procedure.query(() => Promise.reject(new Error("inside"))),
  unsendable: procedure.query(() => 1n),
  refused: procedure.query(() => {
    throw new Response(null, { status: 401 });
  }),
  proxy: procedure.query(async () => {
    return await createCaller(inner).nested.ping.query();
  }),
  stream: procedure.subscription(z.number(), async function* ({ input }) {
    for (let n = 0; n < input; n++) {
      yield await observe(`step ${n}`, "custom", () => Promise.resolve(n));
    }
    await new Promise<void>((resolve) => gate.open = resolve);
  }),
  failing: procedure.subscription(async function* () {
    yield await Promise.resolve(1);
    throw new Error("inside");
  }),
  limited: procedure.subscription(async function* () {
    yield await Promise.resolve(1);
    throw new RPCError("LIMIT", "Enough", 429);
  }),
}, errorLog());

/** Starts a server that traces, and returns it with its tracer. */
async function startTraced(): Promise<
  TestServer & { readonly tracer: TracerImpl }
> {
  const tracer = createTracer();
  const trace = tracePlugin(tracer, { authorize: () => true });
  const server = await serveRouter(router, {}, { trace });
  return Object.assign(server, { tracer });
}

function named(trace: TraceData, name: string): SpanData {
  const spans = [...trace.spans.values()];
  const found = spans.filter((span) => span.name === name);
  assertEquals(found.length, 1, `${name} in ${spans.map((s) => s.name)}`);
  return found[0]!;
}

/** Waits for a stored trace with a span of this name. */
async function traceWith(tracer: TracerImpl, name: string): Promise<TraceData> {
  const find = () =>
    tracer.getTraces().find((trace) =>
      [...trace.spans.values()].some((span) => span.name === name)
    );
  await until(() => find() !== undefined);
  return find()!;
}

Deno.test("A call over HTTP has an rpc span under its request, with the path and the duration", async () => {
  await using server = await startTraced();
  await server.get("sized", { size: 5 });
  const trace = await traceWith(server.tracer, "rpc:sized");
  const span = named(trace, "rpc:sized");
  assertEquals([span.layer, span.status], ["rpc", "ok"]);
  assertEquals(span.parentId, trace.rootSpanId);
  const { "app.rpc.handler_duration": duration, ...attributes } =
    span.attributes;
  assertEquals(attributes, {
    "rpc.system.name": "quartet",
    "rpc.method": "sized",
    "app.rpc.type": "query",
  });
  assert(typeof duration === "number" && duration >= 0);
  assertEquals(span.events.map(({ name }) => name), ["rpc.validation"]);
  const { "app.rpc.valid": valid, "app.rpc.validation_duration": took } = span
    .events[0]!.attributes!;
  assertEquals(valid, true);
  assert(typeof took === "number" && took >= 0);
});

Deno.test("Spans created by a handler are children of the call's span", async () => {
  await using server = await startTraced();
  await server.get("ping");
  const trace = await traceWith(server.tracer, "rpc:ping");
  assertEquals(named(trace, "inside").parentId, named(trace, "rpc:ping").id);
});

Deno.test("setActiveSpan() in a middleware hides the rest of the call from the trace", async () => {
  await using server = await startTraced();
  assertEquals((await server.get("hidden")).body, { ok: true, data: true });
  const trace = await traceWith(server.tracer, "rpc:hidden");
  const names = [...trace.spans.values()].map(({ name }) => name);
  assertEquals(names, ["GET /api/rpc", "rpc:hidden"]);
});

Deno.test("Each call of a batch has a span under the one request", async () => {
  await using server = await startTraced();
  await server.post({
    batch: [
      { path: ["ping"], type: "query" },
      { path: ["write"], type: "mutation" },
      { path: ["conflict"], type: "query" },
      { path: ["no", "such"], type: "query" },
    ],
  });
  const trace = await traceWith(server.tracer, "rpc:ping");
  for (const name of ["rpc:ping", "rpc:write", "rpc:conflict"]) {
    assertEquals(named(trace, name).parentId, trace.rootSpanId);
  }
  assertEquals(
    named(trace, "rpc:write").attributes["app.rpc.type"],
    "mutation",
  );
});

Deno.test("A call by createCaller() has a span under its caller's span", async () => {
  await using server = await startTraced();
  await server.get("proxy");
  const trace = await traceWith(server.tracer, "rpc:proxy");
  assertEquals(
    named(trace, "rpc:nested.ping").parentId,
    named(trace, "rpc:proxy").id,
  );
});

for (
  const [path, input, status, code] of [
    ["conflict", undefined, "ok", "CONFLICT"],
    ["sized", { size: "x" }, "ok", "VALIDATION_ERROR"],
    ["refused", undefined, "ok", undefined],
    ["busy", undefined, "error", "BUSY"],
    ["broken", undefined, "error", undefined],
    ["unsendable", undefined, "error", undefined],
  ] as const
) {
  Deno.test(`The span of a call that ends with ${code ?? path} ${status === "ok" ? "isn't" : "is"} failed`, async () => {
    await using server = await startTraced();
    await server.get(path, input);
    const trace = await traceWith(server.tracer, `rpc:${path}`);
    const span = named(trace, `rpc:${path}`);
    assertEquals(span.status, status);
    assertEquals(span.attributes["rpc.status_code"], code);
    const exceptions = span.events.filter(({ name }) => name === "exception");
    assertEquals(exceptions.length, status === "ok" ? 0 : 1);
    if (path === "sized") {
      assertEquals(span.events[0]!.attributes!["app.rpc.valid"], false);
    }
  });
}

Deno.test("The event of a validation names the rejected fields", async () => {
  await using server = await startTraced();
  await server.get("sized", { size: "x" });
  await server.get("ping");
  const trace = await traceWith(server.tracer, "rpc:sized");
  const [event] = named(trace, "rpc:sized").events;
  assertEquals(event!.attributes!["app.rpc.invalid_fields"], "size");
  await server.get("many", {
    list: Array.from({ length: 50 }, () => ({ n: "x" })),
  });
  const [many] =
    named(await traceWith(server.tracer, "rpc:many"), "rpc:many").events;
  assertEquals(
    many!.attributes!["app.rpc.invalid_fields"],
    Array.from({ length: 10 }, (_, i) => `list.${i}.n`).join(", ") + ", …",
  );
});

Deno.test("The event of a validation without a rejected field names none", async () => {
  await using server = await startTraced();
  for (const path of ["whole", "thrown"]) {
    await server.get(path, 1);
    const trace = await traceWith(server.tracer, `rpc:${path}`);
    const [event] = named(trace, `rpc:${path}`).events;
    assertEquals(Object.keys(event!.attributes!).sort(), [
      "app.rpc.valid",
      "app.rpc.validation_duration",
    ]);
    assertEquals(event!.attributes!["app.rpc.valid"], false);
  }
});

Deno.test("A request that reaches no procedure has the reason in its trace", async () => {
  await using server = await startTraced();
  const refused: [code: string, request: () => Promise<unknown>][] = [
    ["NOT_FOUND", () => server.get("no.such")],
    ["PARSE_ERROR", () => server.post("{")],
    ["METHOD_MISMATCH", () => server.get("write")],
    ["METHOD_NOT_ALLOWED", () => server.request({ method: "DELETE" })],
    [
      "FORBIDDEN",
      async () => {
        const socket = new WebSocket(server.url.replace("http", "ws"), {
          headers: { origin: "https://foreign.example" },
        } as never);
        await new Promise((resolve) => socket.onerror = resolve);
      },
    ],
  ];
  for (const [code, request] of refused) {
    const before = server.tracer.getTraces().length;
    await request();
    await until(() => server.tracer.getTraces().length > before);
    const trace = server.tracer.getTraces().at(-1);
    const root = trace!.spans.get(trace!.rootSpanId)!;
    assertEquals(root.attributes["rpc.status_code"], code);
    assertEquals(trace!.spans.size, 1);
  }
  // The call's span has the error of the procedure itself.
  await server.get("conflict");
  const trace = await traceWith(server.tracer, "rpc:conflict");
  const root = trace.spans.get(trace.rootSpanId)!;
  assertEquals(root.attributes["rpc.status_code"], undefined);
});

Deno.test("Calls of a batch that reach no procedure have the reason in their trace", async () => {
  await using server = await startTraced();
  await server.post({
    batch: [
      { path: ["ping"], type: "query" },
      { path: ["no", "such"], type: "query" },
      { path: ["conflict"], type: "query" },
      null,
    ],
  });
  const trace = await traceWith(server.tracer, "rpc:ping");
  const root = trace.spans.get(trace.rootSpanId)!;
  assertEquals(root.attributes["rpc.status_code"], undefined);
  assertEquals(
    root.events.map(({ name, attributes }) => [
      name,
      attributes!["rpc.status_code"],
    ]),
    [["rpc.refused", "NOT_FOUND"], ["rpc.refused", "PARSE_ERROR"]],
  );
});

Deno.test("A subscription belongs to the trace of the request that opened its socket, also while it runs", async () => {
  await using server = await startTraced();
  const records: TraceData[] = [];
  server.tracer.subscribe((event) => {
    if (event.type === "trace:end") records.push(event.trace);
  });
  await using client = await connect(server);
  client.send(subscribe("a", "stream", 2));
  client.send(subscribe("b", "limited"));
  const messages = await client.take(4);
  assert(messages.some(({ data }) => data === 1));

  // The request has ended, its subscription hasn't.
  await until(() => gate.open !== undefined);
  const running = await traceWith(server.tracer, "rpc:stream");
  const request = named(running, "GET /api/rpc");
  assertEquals(running.rootSpanId, request.id);
  assertEquals(named(running, "rpc:stream").attributes["app.open"], true);
  assertEquals(named(running, "rpc:stream").parentId, request.id);
  assertEquals(running.endTime, request.endTime);

  gate.open!();
  const roots = () =>
    records.map(({ rootSpanId, spans }) => spans.get(rootSpanId)!.name);
  await until(() => roots().includes("rpc:stream"));
  // Each ends as a record of its own.
  assertEquals(roots().sort(), ["GET /api/rpc", "rpc:limited", "rpc:stream"]);
  const trace = await traceWith(server.tracer, "rpc:stream");
  const span = named(trace, "rpc:stream");
  assertEquals([trace.id, span.traceId], [request.traceId, request.traceId]);
  assertEquals(span.parentId, request.id);
  assertEquals([span.layer, span.status], ["rpc", "ok"]);
  assertEquals(span.attributes["app.open"], undefined);
  assertEquals(span.attributes["rpc.method"], "stream");
  assertEquals(span.attributes["app.rpc.type"], "subscription");
  assertEquals(span.events[0]?.name, "rpc.validation");
  for (const name of ["step 0", "step 1"]) {
    const step = named(trace, name);
    assertEquals(step.parentId, span.id);
    assert(step.startTime >= span.startTime && step.endTime <= span.endTime);
  }
  assertEquals(named(trace, "rpc:limited").parentId, request.id);
  assertEquals(server.tracer.getTraces().length, 1);
});

Deno.test("A subscription's span fails like a call's, and ends with an unsubscribe", async () => {
  await using server = await startTraced();
  await using client = await connect(server);
  client.send(subscribe("a", "failing"));
  client.send(subscribe("b", "limited"));
  await client.take(4);
  const failing = await traceWith(server.tracer, "rpc:failing");
  assertEquals(named(failing, "rpc:failing").status, "error");
  const limited = named(
    await traceWith(server.tracer, "rpc:limited"),
    "rpc:limited",
  );
  assertEquals(limited.status, "ok");
  assertEquals(limited.attributes["rpc.status_code"], "LIMIT");

  delete gate.open;
  client.send(subscribe("c", "stream", 1));
  await client.next();
  client.send({ type: "unsubscribe", id: "c" });
  await until(() => gate.open !== undefined);
  gate.open!();
  const stream = await traceWith(server.tracer, "rpc:stream");
  assertEquals(named(stream, "rpc:stream").status, "ok");
});

Deno.test("An untraced server opens no span, and its sockets have no trace", async () => {
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "limited"));
  assertEquals((await client.take(2)).map(({ type }) => type), [
    "data",
    "error",
  ]);
  assertEquals((await server.get("ping")).body.data, "pong");
});
