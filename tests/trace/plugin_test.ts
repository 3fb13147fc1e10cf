import { assertEquals } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { onlyTrace, treeOf } from "./fakes.ts";

Deno.test("tracePlugin() traces an app's requests and serves the traces on the same port", async () => {
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer),
    routes: [{ path: "/hello/:name", loader: ({ params }) => params }],
  });
  const server = await app.serve({ port: 0, signals: false, onListen() {} });
  const url = `http://127.0.0.1:${server.address.port}`;

  const ended = new Promise((resolve) =>
    tracer.subscribe(resolve, ["trace:end"])
  );
  await (await fetch(`${url}/hello/ada`)).text();
  await ended;
  const list = await (await fetch(`${url}/__app/traces/api`)).json();
  assertEquals(list.total, 1);
  assertEquals(list.traces[0].metadata.routePattern, "/hello/:name");

  const socket = new WebSocket(
    `ws://127.0.0.1:${server.address.port}/__app/traces/ws`,
  );
  const first = await new Promise<MessageEvent>((resolve) =>
    socket.onmessage = resolve
  );
  assertEquals(JSON.parse(first.data).traces.length, 1);
  const closed = new Promise((resolve) => socket.onclose = resolve);

  // Shutting down ends the stream, and none of this was traced.
  await server.shutdown();
  await closed;
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "GET /hello/ada(route.match, loader:/hello/:name)",
  );
});

Deno.test("tracePlugin() accepts a browser's spans by POST and rejects other callers", async () => {
  const tracer = createTracer();
  const app = createApp({ trace: tracePlugin(tracer) });
  const server = await app.serve({ port: 0, signals: false, onListen() {} });
  const api = `http://127.0.0.1:${server.address.port}/__app/traces/api`;
  const span = tracer.startTrace("GET /");
  span.end();
  const body = JSON.stringify({
    type: "client:spans",
    traceId: span.traceId,
    spans: [{
      id: "00f067aa0ba902b7",
      name: "paint",
      startTime: Date.now(),
      endTime: Date.now(),
    }],
  });

  const foreign = await fetch(api, {
    method: "POST",
    body,
    headers: { origin: "http://evil.example" },
  });
  await foreign.body?.cancel();
  const own = await fetch(api, { method: "POST", body });

  assertEquals(foreign.status, 403);
  assertEquals(own.status, 202);
  const { now, ...result } = await own.json();
  assertEquals(result, { added: 1, rejected: 0 });
  assertEquals(typeof now, "number");
  await server.shutdown();
});

Deno.test("tracePlugin() answers 404 for unknown paths below its own, and ignores similar paths", async () => {
  const app = createApp({
    trace: tracePlugin(createTracer(), { authorize: () => true }),
    routes: [{ path: "/**", handler: () => new Response("the app") }],
  });
  const unknown = await app.fetch(
    new Request("http://localhost/__app/traces/unknown"),
  );
  assertEquals(unknown.status, 404);
  assertEquals((await unknown.json()).error, {
    code: "NOT_FOUND",
    message:
      "There is nothing at this path; the traces are at /__app/traces, and /__app/traces/api?help lists all paths",
  });
  const other = await app.fetch(
    new Request("http://localhost/__app/tracesandmore"),
  );
  assertEquals(await other.text(), "the app");
  await app.close();
});

Deno.test("Earlier middlewares and errors of the app are inside the trace", async () => {
  const tracer = createTracer();
  const app = createApp({
    trace: tracePlugin(tracer),
    plugins: [{
      name: "inner",
      middleware: (_request, _context, next) =>
        tracer.withSpan("inner", "custom", next),
    }],
    routes: [{
      path: "/",
      handler() {
        throw new Error("no");
      },
    }],
    onError() {},
  });
  const response = await app.fetch(new Request("http://localhost/"));
  await response.body?.cancel();
  assertEquals(response.status, 500);
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(inner(route.match))");
  assertEquals(onlyTrace(tracer).metadata.statusCode, 500);
  await app.close();
});
