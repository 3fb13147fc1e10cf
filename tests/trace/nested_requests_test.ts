/** Nested requests that have spans of their own, and those that share one. */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import {
  createTracer,
  noopTracer,
  traceMiddleware,
  tracePlugin,
  withSpan,
} from "@quartet/kit/trace";
import { onlyTrace, rootOf, treeOf } from "./fakes.ts";

const ASK = { get: () => undefined, set() {} };

Deno.test("A request with the same URL inside a request has a span of its own", async () => {
  const tracer = createTracer();
  const inner = createApp({ routes: [{ path: "/", loader: () => "inner" }] });
  inner.use(traceMiddleware(tracer));
  const outer = createApp({
    routes: [{
      path: "/",
      handler: () => inner.fetch(new Request("http://localhost/")),
    }],
  });
  outer.use(traceMiddleware(tracer));
  await (await outer.fetch(new Request("http://localhost/"))).text();
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "GET /(route.match, GET /(route.match, loader:/))",
  );
});

Deno.test("An application span with the request's name doesn't replace the request's span", async () => {
  const tracer = createTracer();
  const app = createApp({ routes: [{ path: "/", loader: () => "home" }] });
  app.use(traceMiddleware(tracer));
  await tracer.withSpan(
    "GET /",
    "request",
    () => app.fetch(new Request("http://localhost/")),
  );
  assertEquals(
    treeOf(onlyTrace(tracer)),
    "GET /(GET /(route.match, loader:/))",
  );
});

Deno.test("A middleware that is added twice creates one span", async () => {
  const tracer = createTracer();
  const middleware = traceMiddleware(tracer);
  const app = createApp({
    trace: tracePlugin(tracer),
    routes: [{ path: "/", loader: () => "home" }],
  });
  app.use(middleware).use(middleware);
  await (await app.fetch(new Request("http://localhost/"))).text();
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(route.match, loader:/)");
});

Deno.test("A request forwarded to an app has one span, at any depth and with a body", async () => {
  const tracer = createTracer();
  let app = createApp({
    routes: [{
      path: "/form",
      method: "POST",
      handler: async (request) => new Response(await request.text()),
    }],
  });
  app.use(traceMiddleware(tracer));
  for (let depth = 0; depth < 3; depth++) {
    const inner = app;
    // The host passes its routes a copy of the request, with a limited body.
    app = createApp({
      routes: [{
        path: "/**",
        method: "*",
        handler: (request, { info }) => inner.fetch(request, info),
      }],
    });
    app.use(traceMiddleware(tracer));
  }
  const init = { method: "POST", body: "a=1" };
  const response = await app.fetch(new Request("http://localhost/form", init));
  assertEquals(await response.text(), "a=1");
  const trace = onlyTrace(tracer);
  const spans = [...trace.spans.values()];
  assertEquals(spans.filter((span) => span.layer === "request").length, 1);
  assertEquals(rootOf(trace).attributes["http.route"], "/form");
});

Deno.test("A request that is sent again after its trace has ended is another trace", async () => {
  const tracer = createTracer();
  const app = createApp({ routes: [{ path: "/", loader: () => "home" }] });
  app.use(traceMiddleware(tracer));
  const request = new Request("http://localhost/");
  await (await app.fetch(request)).text();
  await (await app.fetch(request)).text();
  assertEquals(tracer.getTraces().length, 2);
});

Deno.test("A request from work that outlives its trace has a trace of its own", async () => {
  const tracer = createTracer();
  const trace = tracePlugin(tracer);
  const inner = createApp({
    trace,
    routes: [{ path: "/inner", loader: () => "inner" }],
  });
  const ended = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<Response>();
  const app = createApp({
    trace,
    routes: [{
      path: "/outer",
      loader() {
        withSpan("work", "custom", async () => {
          await ended.promise;
          const request = new Request("http://localhost/inner");
          sent.resolve(inner.fetch(request));
          await sent.promise;
        });
        return "outer";
      },
    }],
  });
  await (await app.fetch(new Request("http://localhost/outer"))).text();
  ended.resolve();
  const response = await sent.promise;
  assertEquals(tracer.getTraces().map((trace) => treeOf(trace)), [
    "GET /outer(route.match, loader:/outer(work))",
    "GET /inner(route.match, loader:/inner)",
  ]);
  const { id } = tracer.getTraces()[1]!;
  assertEquals(response.headers.get("x-app-trace-id"), id);
});

Deno.test("traceMiddleware() with a tracer without effect adds no headers", async () => {
  for (const tracer of [undefined, noopTracer]) {
    const app = createApp({ routes: [{ path: "/", loader: () => "home" }] });
    app.use(traceMiddleware(tracer));
    const response = await app.fetch(new Request("http://localhost/"));
    assertEquals(await response.json(), "home");
    assertEquals(response.headers.get("x-app-trace-id"), null);
    assertEquals(response.headers.get("server-timing"), null);
  }
});

Deno.test("traceMiddleware() returns synchronously if the rest of the chain does", () => {
  const tracer = createTracer();
  const middleware = traceMiddleware(tracer);
  const request = new Request("http://localhost/");
  const answer = (next: () => Response) =>
    middleware(request, ASK, next as never);

  assert(answer(() => new Response("hello")) instanceof Response);
  const thrown = answer(() => {
    throw new Response("no", { status: 404 });
  });
  assert(thrown instanceof Response);
  assertThrows(
    () =>
      answer(() => {
        throw new Error("It broke");
      }),
    Error,
    "It broke",
  );
  assertEquals(
    tracer.getTraces().map(({ metadata }) => metadata.statusCode),
    [200, 404, 500],
  );
});
