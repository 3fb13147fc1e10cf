/** Exports of a server like one in production, as a collector sees them. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createClient } from "@quartet/kit/rpc/client";
import {
  createOTLPExporter,
  createTracer,
  type OTLPTraces,
  toOTLP,
  tracedFetch,
  tracePlugin,
} from "@quartet/kit/trace";
import { anyTrace } from "./any_trace.ts";
import { makeTrace } from "./make_trace.ts";
import { decodeStrictly } from "./otlp_definitions.ts";
import { SeededRandom } from "./random.ts";
import { createShop } from "./shop.ts";
import {
  readSpans,
  StrictCollector,
  type TakenSpan,
} from "./strict_collector.ts";

const LOCAL = { port: 0, hostname: "127.0.0.1", onListen() {} };

Deno.test("A collector accepts and understands the exports of a server with all modules", async () => {
  await using collector = new StrictCollector();
  const tracer = createTracer({ maxSpansPerTrace: 20 });
  const problems: string[] = [];
  const exporter = createOTLPExporter({
    url: collector.url,
    serviceName: "shop",
    resource: { "service.version": "1.2.3", "host.cpu.count": 2 },
    gzip: true,
    onError: ({ message }) => problems.push(message),
  });
  exporter.attach(tracer);
  const logged = muteErrors();
  using shop = createShop(tracer);
  const { app } = shop;
  const server = await app.serve(LOCAL);
  const origin = `http://127.0.0.1:${server.address.port}`;
  const get = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${origin}${path}`, init);
    await response.body?.cancel();
    return response;
  };
  const signedIn = await get("/sign-in", { method: "POST" });
  const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
  const remote = { traceId: "a".repeat(32), parentId: "b".repeat(16) };
  await get("/values", {
    headers: {
      cookie,
      traceparent: `00-${remote.traceId}-${remote.parentId}-01`,
    },
  });
  await get("/values");
  await get("/many");
  await get("/fails?token=hunter2");
  const rpc = createClient<typeof shop.router>({
    httpEndpoint: `${origin}/api/rpc`,
  });
  for (let i = 0; i < 2; i++) await rpc.items.query({ limit: 2 });
  await rpc.broken.query().catch(() => {});
  await server.shutdown();
  await exporter.close();
  logged.restore();

  assertEquals(problems, []);
  assertEquals(collector.problems, []);
  const traces = tracer.getTraces();
  assertEquals(exporter.stats.exported, traces.length);
  const recorded = traces.flatMap(({ spans }) => [...spans.values()]);
  const taken = new Map(collector.spans.map((span) => [span.spanId, span]));
  assertEquals(taken.size, recorded.length);
  for (const span of recorded) {
    const { traceId, parentSpanId, startTimeUnixNano, endTimeUnixNano } = taken
      .get(span.id)!;
    assertEquals([traceId, parentSpanId], [
      span.traceId,
      span.parentId ?? undefined,
    ]);
    const length = BigInt(endTimeUnixNano) - BigInt(startTimeUnixNano);
    assert(Math.abs(Number(length) / 1e6 - span.duration) < 0.001);
  }
  assertEquals(new Set(collector.spans.map((span) => span.service)).size, 1);
  assert(!JSON.stringify(collector.spans).includes("hunter2"));

  const named = (name: string) =>
    collector.spans.filter((span) => span.name === name);
  const one = (name: string) => {
    const found = named(name);
    assertEquals(found.length, 1, name);
    return found[0]!;
  };

  // A request of another service, and its child spans.
  const [continued] = named("GET /values");
  assertEquals(continued?.traceId, remote.traceId);
  assertEquals(continued?.parentSpanId, remote.parentId);
  assertEquals(continued?.kind, 2);
  assertEquals(continued?.attributes["http.route"], { stringValue: "/values" });
  assertEquals(continued?.attributes["http.response.status_code"], {
    intValue: "200",
  });
  // A request without sign-in is rejected, which isn't a failure of the server.
  const refused = named("GET /values")[1];
  assertEquals(refused?.attributes["http.response.status_code"], {
    intValue: "401",
  });
  assertEquals(refused?.status, { code: 0 });

  // Values of all types, as far as there is room for them.
  const values = one("日本 \ufffd ✓");
  assertEquals(values.kind, 1);
  for (
    const [key, value] of Object.entries({
      text: { stringValue: "Ünïcode \u0000 \ufffd 🇫🇷" },
      int: { intValue: "9007199254740992" },
      negative: { intValue: "-7" },
      double: { doubleValue: 0.5 },
      large: { doubleValue: 1e300 },
      no: { boolValue: false },
      nan: { stringValue: "NaN" },
      list: { stringValue: "1,a" },
    })
  ) assertEquals(values.attributes[key], value, key);
  assertEquals(values.events[0]?.attributes, [
    { key: "count", value: { intValue: "3" } },
    { key: "ratio", value: { doubleValue: 0.25 } },
    { key: "ok", value: { boolValue: true } },
  ]);
  assertEquals(values.droppedAttributesCount, 24);
  assertEquals(values.droppedEventsCount, 23);

  // Shortened texts, and attributes that didn't fit.
  assertEquals(one("forgotten").status, {
    code: 2,
    message: "The span was open when its trace ended",
  });
  const { attributes: { "app.trace": summary } } = one("GET /many");
  assert(JSON.parse(summary?.stringValue ?? "{}").droppedSpans > 0);

  // An exception is recorded once, where it was thrown.
  const failed = one("GET /fails");
  assertEquals(failed.status, { code: 2 });
  assertEquals(failed.attributes["error.type"], { stringValue: "500" });
  assertEquals(failed.attributes["url.query"], {
    stringValue: "token=REDACTED",
  });
  const loader = one("loader:/fails");
  assertEquals(loader.status, { code: 2, message: "can't" });
  assertEquals(loader.parentSpanId, failed.spanId);
  const exceptions = collector.spans
    .filter(({ traceId }) => traceId === failed.traceId)
    .flatMap(({ events = [] }) => events);
  assertEquals(exceptions, loader.events);
  const [exception] = exceptions;
  assertEquals(exception?.name, "exception");
  const { stringValue: stack } =
    exception!.attributes!.find(({ key }) => key === "exception.stacktrace")!
      .value;
  assert(stack?.includes("Caused by: Error: deep inside"));

  // Database calls are client spans. Procedures aren't requests of their own.
  const query = one("db.query");
  assertEquals(query.kind, 3);
  assertEquals(query.attributes["db.query.text"], {
    stringValue: "SELECT name FROM item LIMIT ?",
  });
  assertEquals(named("rpc:items").map(({ kind }) => kind), [1, 1]);
  assertEquals(one("rpc:broken").status.code, 2);
});

/** Keeps provoked failures out of the test output. */
function muteErrors(): { restore(): void } {
  const { error } = console;
  console.error = () => {};
  return { restore: () => console.error = error };
}

Deno.test("A collector joins the exports of two servers for one request into one tree", async () => {
  await using collector = new StrictCollector();
  const service = (serviceName: string) => {
    const tracer = createTracer();
    const exporter = createOTLPExporter({ url: collector.url, serviceName });
    exporter.attach(tracer);
    return { tracer, exporter };
  };
  const [stock, shop] = [service("stock"), service("shop")];
  const stockApp = createApp({
    trace: tracePlugin(stock.tracer),
    routes: [{ path: "/stock/:item", loader: () => 3 }],
  });
  const stockServer = await stockApp.serve(LOCAL);
  const origin = `http://127.0.0.1:${stockServer.address.port}`;
  const fetch = tracedFetch({ trustedOrigins: [origin] });
  const shopApp = createApp({
    trace: tracePlugin(shop.tracer),
    routes: [{
      path: "/",
      loader: async () =>
        await Promise.all(
          ["tea", "milk"].map(async (item) =>
            await (await fetch(`${origin}/stock/${item}`)).json()
          ),
        ),
    }],
  });
  const response = await shopApp.fetch(new Request("http://localhost/"));
  assertEquals(await response.json(), [3, 3]);
  await stockServer.shutdown();
  await shopApp.close();
  await Promise.all([stock.exporter.close(), shop.exporter.close()]);

  assertEquals(collector.problems, []);
  const { spans } = collector;
  assertEquals(new Set(spans.map(({ traceId }) => traceId)).size, 1);
  const byId = new Map(spans.map((span) => [span.spanId, span]));
  const path = (span: TakenSpan): string => {
    const parent = byId.get(span.parentSpanId ?? "");
    const step = `${span.service} ${span.kind}`;
    return parent === undefined ? step : `${path(parent)} > ${step}`;
  };
  const servers = spans.filter(({ kind, service }) =>
    kind === 2 && service === "stock"
  );
  assertEquals(servers.map(({ name }) => name).sort(), [
    "GET /stock/milk",
    "GET /stock/tea",
  ]);
  for (const server of servers) {
    assertEquals(path(server), "shop 2 > shop 1 > shop 3 > stock 2");
  }
});

Deno.test("A collector receives the spans that were in progress at shutdown", async () => {
  await using collector = new StrictCollector();
  const tracer = createTracer();
  const exporter = createOTLPExporter({ url: collector.url });
  exporter.attach(tracer);
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  const text = (text: string) => new TextEncoder().encode(text);
  const app = createApp({
    trace: tracePlugin(tracer),
    routes: [
      {
        path: "/slow",
        loader: async () => {
          await stopped;
          return 1;
        },
      },
      {
        path: "/stream",
        handler: () =>
          new Response(
            ReadableStream.from((async function* () {
              yield text("first ");
              await stopped;
              yield text("last");
            })()),
            { headers: { "content-type": "text/event-stream" } },
          ),
      },
    ],
  });
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  app.use((request, _context, next) => {
    if (request.url.endsWith("/slow")) begin();
    return next();
  });
  const server = await app.serve(LOCAL);
  const origin = `http://127.0.0.1:${server.address.port}`;
  const stream = await fetch(`${origin}/stream`);
  const slow = fetch(`${origin}/slow`);
  await begun;
  void server.shutdown();
  stop();
  // As in docs/production-tracing.md.
  await server.finished;
  await exporter.close();
  assertEquals(await (await slow).json(), 1);
  assertEquals(await stream.text(), "first last");
  assertEquals(collector.problems, []);
  const roots = collector.spans.filter(({ kind }) => kind === 2);
  assertEquals(
    roots.map(({ name, status }) => [name, status.code]).sort(),
    [["GET /slow", 0], ["GET /stream", 0]],
  );
});

Deno.test("The export of any trace conforms to OpenTelemetry's definitions", () => {
  const random = new SeededRandom(216);
  // Later times overflow 64 bits of nanoseconds.
  const year2500 = Date.UTC(2500);
  let count = 0;
  while (count < 300) {
    const trace = anyTrace(random);
    const times = trace.spans.flatMap(({ startTime, endTime, events }) => [
      startTime,
      endTime,
      ...events.map(({ time }) => time),
    ]);
    if (times.length === 0 || Math.max(...times) > year2500) continue;
    const { id, spans } = makeTrace(trace.spans.map((span) => ({
      attributes: span.attributes,
      events: span.events,
      name: span.name,
    })));
    // Throws at anything that the definitions don't contain.
    decodeStrictly(JSON.stringify(toOTLP([{ ...trace, id, spans }])));
    count++;
  }
});

Deno.test("The collector of these tests rejects anything but OTLP/JSON", () => {
  const now = `${Date.now()}000000`;
  const span = {
    traceId: "a".repeat(32),
    spanId: "b".repeat(16),
    name: "job",
    kind: 1,
    startTimeUnixNano: now,
    endTimeUnixNano: now,
    status: { code: 0 },
  };
  const request = (wrong: object): string =>
    JSON.stringify({
      resourceSpans: [{
        resource: {
          attributes: [{ key: "service.name", value: { stringValue: "a" } }],
        },
        scopeSpans: [{ scope: { name: "a" }, spans: [{ ...span, ...wrong }] }],
      }],
    });
  const read = (wrong: object): TakenSpan[] =>
    readSpans(decodeStrictly(request(wrong)) as OTLPTraces);
  assertEquals(read({}).length, 1);
  const attribute = (value: unknown) => ({
    attributes: [{ key: "a", value }],
  });
  for (
    const wrong of [
      { parent_span_id: "c".repeat(16) },
      { duration: 1 },
      { kind: "SPAN_KIND_SERVER" },
      { kind: 0 },
      { kind: 9 },
      { status: { code: "STATUS_CODE_OK" } },
      { status: { code: 3 } },
      { startTimeUnixNano: Date.now() * 1e6 },
      { startTimeUnixNano: String(Date.now()) },
      { endTimeUnixNano: String(BigInt(now) - 1n) },
      { traceId: "qqqqqqqqqqqqqqqqqqqqqg==" },
      { traceId: "a".repeat(30) },
      { traceId: "0".repeat(32) },
      { spanId: "B".repeat(16) },
      { parentSpanId: "" },
      { name: "" },
      { name: 1 },
      { droppedEventsCount: "1" },
      attribute({ intValue: 1 }),
      attribute({ intValue: "1.5" }),
      attribute({ stringValue: 1 }),
      attribute({ boolValue: "true" }),
      attribute({ stringValue: "a", boolValue: true }),
      attribute({ value: "a" }),
      attribute("a"),
      { attributes: { a: { stringValue: "a" } } },
    ]
  ) assertThrows(() => read(wrong), Error, undefined, JSON.stringify(wrong));
});
