import {
  assert,
  assertEquals,
  assertLessOrEqual,
  assertMatch,
  assertRejects,
  assertStrictEquals,
  assertThrows,
} from "@std/assert";
import { createApp } from "@quartet/kit/app";
import * as noop from "@quartet/kit/trace/noop";
import * as real from "@quartet/kit/trace";
import { buildSync } from "esbuild";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);

/** Classes differ: only the tracer creates instances. */
type Classes = "createTracer" | "SpanImpl" | "TracerImpl";

/** Compiles only if the functions of both have the same types. */
const SAME_SIGNATURES: Omit<typeof real, Classes> = noop;

Deno.test("The no-op entry exports every name of the real one", () => {
  const names = Object.keys(noop);
  const missing = Object.keys(real).filter((name) => !names.includes(name));
  assertEquals(missing, []);
  const values = SAME_SIGNATURES as Record<string, unknown>;
  for (const [name, value] of Object.entries(real)) {
    assertEquals(typeof values[name], typeof value, name);
  }
});

Deno.test("The no-op entry exports noopTracer, noopSpan and NoopTracer", () => {
  assert(noop.noopTracer instanceof noop.NoopTracer);
  assert(noop.createTracer() instanceof noop.TracerImpl);
  assert(noop.noopSpan instanceof noop.SpanImpl);
});

/** Uses the real tracer's API. It must compile for both. */
async function useTracer(kit: typeof noop | typeof real): Promise<string[]> {
  const tracer = kit.createTracer({ maxTraces: 5, layers: ["data"] });
  new kit.TracerImpl({ minDurationMs: 1 });
  const received: string[] = [];
  const unsubscribe = tracer.subscribe((event) => received.push(event.type), [
    "trace:end",
  ]);
  const root = tracer.startTrace("GET /", "request", { attributes: { a: 1 } });
  const span = tracer.startSpan("step", "data", { parent: root });
  span.setAttribute("a", true);
  span.event("e", { b: "c", d: undefined });
  span.error(new Error("no"));
  assertEquals(typeof span.elapsed(), "number");
  assertEquals(typeof span.child("x", "custom", { n: 1 }).root.id, "string");
  span.end();
  root.end();
  assertEquals(tracer.withSpan("a", "custom", () => 1, { parent: root }), 1);
  assertEquals(
    await tracer.withSpan("a", "custom", () => Promise.resolve(2)),
    2,
  );
  assertThrows(() =>
    tracer.withSpan("a", "custom", () => {
      throw new Error("no");
    })
  );
  assertEquals(tracer.activeSpan(), undefined);
  assertEquals(tracer.mergeClientSpans(root.traceId, []), 0);
  assertEquals(tracer.getTrace("unknown"), undefined);
  unsubscribe();
  return received;
}

Deno.test("Code written for the real tracer compiles and runs with the no-op one", async () => {
  assertEquals(await useTracer(real), Array(3).fill("trace:end"));
  assertEquals(await useTracer(noop), []);
  assertEquals(noop.createTracer({ maxTraces: 1 }).getTraces(), []);
  assertEquals(noop.noopSpan.id, "");
});

Deno.test("Wrapping functions of the no-op entry still call the function", async () => {
  const wrappers: ((fn: () => unknown) => unknown)[] = [
    (fn) => noop.withSpan("a", "custom", fn),
    (fn) => noop.traceRouteMatch(fn),
    (fn) => noop.traceLoader("a", fn),
    (fn) => noop.traceCacheOperation("get", "k", fn),
    (fn) => noop.traceFormSubmit("a", fn),
    (fn) => noop.traceRPCCall("a.b", "query", fn),
    (fn) => noop.traceQuery("SELECT 1", fn, { system: "sqlite" }),
    (fn) => noop.traceAuthCheck("a", fn),
    (fn) => noop.traceHydration("A", fn),
    (fn) => noop.traceBuildStage("a", fn),
    (fn) => noop.traceBuild("a", fn, noop.noopTracer),
    (fn) => noop.withErrorCapture(fn)(),
    (fn) => noop.noopTracer.withSpan("a", "custom", fn),
  ];
  const error = new Error("no");
  const pending = Promise.resolve(1);
  for (const wrap of wrappers) {
    assertEquals(wrap(() => 42), 42);
    assertStrictEquals(wrap(() => pending), pending);
    assertStrictEquals(
      assertThrows(() =>
        wrap(() => {
          throw error;
        })
      ),
      error,
    );
    await assertRejects(async () => await wrap(() => Promise.reject(error)));
  }
  const adapter = { query: () => 1 };
  assertStrictEquals(noop.tracedAdapter(adapter, { system: "x" }), adapter);
  const send: typeof fetch = (input) =>
    Promise.resolve(new Response(String(input)));
  assertStrictEquals(
    noop.tracedFetch({ fetch: send, trustedOrigins: "*" }),
    send,
  );
  const response = await noop.tracedFetch()("data:text/plain,hello");
  assertEquals(await response.text(), "hello");
});

Deno.test("Recording functions of the no-op entry do nothing", () => {
  noop.recordRouteMatch("/");
  noop.recordLoaderMetrics({ items: 1 });
  noop.recordFormValidation({ errors: { a: "b" } });
  noop.recordSignalUpdate("a", 1);
  noop.recordSignalBatch(["a"]);
  noop.recordRPCValidation({ valid: true });
  noop.recordHydration("A", { strategy: "idle" });
  noop.traceError(new Error("no"));
  noop.setTracer(noop.noopTracer);
  assertStrictEquals(noop.getTracer(), noop.noopTracer);
  noop.setActiveSpan(noop.noopSpan);
  assertEquals(noop.getActiveSpan(), undefined);
  noop.setActiveSpan(undefined);
  noop.createCLIReporter(noop.noopTracer, { color: true }).close();
  assertEquals(noop.createCollector(noop.noopTracer).receive({}), {
    added: 0,
    rejected: 0,
  });
  assertMatch(noop.generateTraceId(), /^[0-9a-f]{32}$/);
  assertMatch(noop.generateSpanId(), /^[0-9a-f]{16}$/);
});

Deno.test("Exporters of the no-op entry produce empty output and send nothing", async () => {
  const tracer = noop.createTracer();
  const trace = real.createTracer();
  trace.withSpan("job", "custom", () => {});
  const traces = trace.getTraces();
  const serialized = traces.map(real.serializeTrace);
  assertEquals(noop.toOTLP(serialized), { resourceSpans: [] });
  assertEquals(noop.fromOTLP(real.toOTLP(serialized)), []);
  assertEquals(noop.toChromeTrace(serialized).traceEvents, []);
  assertEquals(await noop.generateViewerHTML(traces), "");
  assertEquals(await noop.exportTracesHTML(tracer), "");
  const exporter = noop.createOTLPExporter({
    url: "http://127.0.0.1:1",
    fetch: () => Promise.reject(new Error("It was sent")),
    onError: (error) => {
      throw error;
    },
  });
  const detach = exporter.attach(trace);
  trace.withSpan("job", "custom", () => {});
  assertEquals(await exporter.flush(), true);
  assertEquals(exporter.stats, {
    exported: 0,
    dropped: 0,
    failed: 0,
    queued: 0,
    lost: {
      queueFull: 0,
      closed: 0,
      rejected: 0,
      timeout: 0,
      unavailable: 0,
      invalid: 0,
    },
    rejectedSpans: 0,
  });
  detach();
  await exporter.close();
  assertStrictEquals(
    noop.noopSpan.continuation()("later", "rpc"),
    noop.noopSpan,
  );
});

Deno.test("An app with the no-op plugin and middleware responds as without them, and shows no traces", async () => {
  const tracer = noop.createTracer();
  const app = createApp({
    trace: noop.tracePlugin(tracer, { exclude: ["/health"], sample: 0.5 }),
    routes: [{ path: "/", handler: () => new Response("hello") }],
  });
  app.use(noop.traceMiddleware(tracer, { recordHeaders: true }));
  const response = await app.fetch(new Request("http://localhost/"));
  assertEquals(await response.text(), "hello");
  assertEquals([...response.headers.keys()], ["content-type"]);
  for (
    const path of ["/__app/traces", "/__app/traces/api", "/__app/traces/ws"]
  ) {
    const { status, body } = await app.fetch(
      new Request(`http://localhost${path}`),
    );
    await body?.cancel();
    assertEquals(status, 404);
  }
  await app.close();

  const request = new Request("http://localhost/");
  const api = noop.createTracesAPIHandler(tracer, { authorize: () => true });
  assertEquals((await api(request)).status, 404);
  const stream = noop.createTraceWebSocket(tracer);
  assertEquals((await stream.upgrade(request)).status, 404);
  await stream.close();
});

Deno.test("The no-op entry still writes and reads traces", () => {
  const tracer = real.createTracer();
  tracer.withSpan("job", "custom", () => {});
  const trace = tracer.getTraces()[0]!;
  assertEquals(noop.serializeTrace(trace), real.serializeTrace(trace));
  const json = JSON.stringify(noop.serializeTrace(trace));
  assertEquals(noop.deserializeTrace(json), trace);
  assertEquals(noop.deserializeTrace(JSON.parse(json)), trace);
});

// The bundler's first run opens a port that stays open, so not within a test.
buildSync({ stdin: { contents: "" }, write: false });

/** Bundles a program, with the real entry replaced by the no-op one. */
function bundle(source: string): { text: string; inputs: string[] } {
  const path = (name: string) => fileURLToPath(new URL(name, ROOT));
  const { outputFiles, metafile } = buildSync({
    stdin: { contents: source, loader: "ts", resolveDir: path(".") },
    bundle: true,
    minify: true,
    format: "esm",
    write: false,
    metafile: true,
    alias: {
      "@quartet/kit/app": path("app/mod.ts"),
      "@quartet/kit/trace": path("trace/noop.ts"),
    },
    external: ["node:*", "rou3"],
    absWorkingDir: path("."),
    tsconfigRaw: {},
    logLevel: "silent",
  });
  const inputs = Object.values(metafile.outputs)
    .flatMap((output) => Object.keys(output.inputs));
  return { text: outputFiles[0]!.text, inputs };
}

Deno.test("noopTracer and noopSpan alone have at most 592 bytes", async () => {
  const { text } = bundle(
    `export { noopSpan, noopTracer } from "@quartet/kit/trace";`,
  );
  assertLessOrEqual(new TextEncoder().encode(text).length, 592);
  // The bundle contains them, and they work.
  const { noopTracer } = await import(
    `data:text/javascript,${encodeURIComponent(text)}`
  );
  assertEquals(noopTracer.withSpan("a", "custom", () => 42), 42);
});

Deno.test("An app that aliases the real entry to the no-op one has no tracing left in its bundle", () => {
  const { text, inputs } = bundle(`
    import { createApp } from "@quartet/kit/app";
    import {
      createCLIReporter, createCollector, createTracer, traceLoader,
      tracedAdapter, tracedFetch, traceMiddleware, tracePlugin, traceQuery,
    } from "@quartet/kit/trace";

    const tracer = createTracer({ maxTraces: 50 });
    createCLIReporter(tracer);
    createCollector(tracer);
    const database = tracedAdapter({ query: (text: string) => [text] });
    const app = createApp({
      trace: tracePlugin(tracer),
      routes: [{
        path: "/",
        loader: () => traceLoader("a", () => tracedFetch()("data:,")).then(() =>
          traceQuery("SELECT 1", () => database.query("SELECT 1"))),
      }],
    });
    app.use(traceMiddleware(tracer));
    export default app;
  `);
  assertEquals(
    inputs.filter((input) => input.startsWith("trace/")).sort(),
    ["trace/noop.ts", "trace/noop_tracer.ts"],
  );
  assertEquals(inputs.filter((input) => input.startsWith("viewer/")), []);
  for (
    const word of [
      "traceparent",
      "x-app-trace-id",
      "server-timing",
      "http.request.method",
      "db.query.text",
      "client:spans",
      "trace:end",
      "exception",
      "response.cut_off",
      "FORCE_COLOR",
    ]
  ) assert(!text.includes(word), word);
});
