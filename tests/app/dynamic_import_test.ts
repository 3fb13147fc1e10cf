/**
 * In Deno, `import()` within a request leaks its async context into all later
 * requests of the server. These must not count as part of the first one.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { Context, createApp } from "@quartet/kit/app";
import { apiKey, createAuthPlugin, getAuth } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createTracer, traceMiddleware, tracePlugin } from "@quartet/kit/trace";

/** Returns the specifier of a module that no other test has imported. */
const moduleOf = (text: string) =>
  `data:text/javascript,export default ${JSON.stringify(text)}`;

Deno.test("A request that imports a module doesn't become the parent of later requests", async () => {
  const tracer = createTracer();
  const cache = createCache();
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    plugins: [
      createAuthPlugin({
        session: { secret: "a secret of at least thirty-two bytes" },
        providers: [apiKey({ validate: () => ({ id: "ada" }) })],
      }),
    ],
    routes: [{
      path: "/mine",
      async loader({ context }) {
        await import(moduleOf("mine"));
        return getAuth(context).getUser()?.id;
      },
    }, { path: "/page", loader: () => "for all" }],
  });
  app.use(cache.cacheResponse({ maxAge: 60 }));
  await using server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen() {},
  }, app.fetch);
  const base = `http://127.0.0.1:${server.addr.port}`;

  const mine = await fetch(`${base}/mine`, { headers: { "x-api-key": "k" } });
  assertEquals(await mine.json(), "ada");
  for (let i = 0; i < 2; i++) {
    const page = await fetch(`${base}/page`);
    assertEquals(await page.json(), "for all");
    assertEquals(page.headers.get("cache-control"), "public, max-age=60");
  }
  assertEquals(tracer.getTraces().length, 3);
  await app.close();
});

Deno.test("Modules that the viewer loads don't make later requests part of its own", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [apiKey({ validate: () => ({ id: "ada" }) })],
  });
  const cache = createCache();
  const app = createApp({
    trace: tracePlugin(createTracer(), {
      async authorize(request, info) {
        await auth.authenticate(request, info);
        return true;
      },
    }),
    routes: [{ path: "/page", loader: () => "for all" }],
  });
  app.use(cache.cacheResponse({ maxAge: 60 }));
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const base = `127.0.0.1:${server.address.port}`;
  const socket = new WebSocket(`ws://${base}/__app/traces/ws`);
  await new Promise((resolve) => socket.onopen = resolve);
  for (const path of ["/__app/traces", "/__app/traces/api"]) {
    await (await fetch(`http://${base}${path}`)).body?.cancel();
  }
  for (let i = 0; i < 2; i++) {
    const page = await fetch(`http://${base}/page`);
    assertEquals(await page.json(), "for all");
    assertEquals(page.headers.get("cache-control"), "public, max-age=60");
  }
  const closed = new Promise((resolve) => socket.onclose = resolve);
  socket.close();
  await closed;
});

Deno.test("traceMiddleware() without a host separates later requests and joins nested ones", async () => {
  const tracer = createTracer();
  const trace = traceMiddleware(tracer);
  const app = createApp({ routes: [{ path: "/app", loader: () => "app" }] });
  app.use(traceMiddleware(tracer));
  await using server = Deno.serve({
    port: 0,
    hostname: "127.0.0.1",
    onListen() {},
  }, (request, info) =>
    trace(request, new Context(request, info), async () => {
      if (request.url.endsWith("/app")) return await app.fetch(request, info);
      await import(moduleOf("bare"));
      return new Response("bare");
    }));
  const base = `http://127.0.0.1:${server.addr.port}`;
  for (const path of ["/bare", "/bare", "/app"]) {
    await (await fetch(base + path)).text();
  }
  const traces = tracer.getTraces();
  assertEquals(traces.length, 3);
  const layers = [...traces[2]!.spans.values()].map(({ layer }) => layer);
  assertEquals(layers.sort(), ["data", "request", "routing"]);
  await app.close();
});
