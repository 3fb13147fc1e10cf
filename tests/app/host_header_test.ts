import { assertEquals, assertStringIncludes } from "@std/assert";
import type { AddressInfo } from "node:net";
import { serve as serveNode } from "@hono/node-server";
import {
  createApp,
  createUpgrader,
  currentContext,
  toHono,
  toNode,
  withPlugins,
} from "@quartet/kit/app";
import type { App } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { Hono } from "hono";
import { WebSocketServer } from "ws";
import { exchange, handshake } from "../helpers.ts";

/** Invalid `Host` headers: they aren't `host[:port]`. */
const MALFORMED = [
  "",
  "x/admin?",
  "x/admin#",
  "a:99999",
  "a:65536",
  "a:b",
  "a:-1",
  "a b",
  "user@a",
  "user:pw@a",
  "a?b",
  "a#b",
  "a\\b",
  "%41",
  "a,b",
  "[::zz]",
  "[::1",
  "::1",
  "1.2.3.999",
  "ä",
  "a\tb",
  "<script>",
  "http://a",
];

const VALID = [
  "a",
  "A.example",
  "a.example:8080",
  "127.0.0.1:1",
  "[::1]",
  "[::1]:8000",
  "xn--bcher-kva.example",
  "a_b.internal",
  "a.example.",
  "a:65535",
];

/** A handler that opens a WebSocket. */
function opener() {
  let opened = 0;
  const upgrader = createUpgrader<undefined>({
    message() {},
    open: () => void opened++,
  });
  return {
    upgrader,
    opened: () => opened,
    handler: (request: Request) =>
      upgrader.upgrade(request, { data: undefined })
        ? upgrader.response(request)!
        : new Response(null, { status: 426 }),
  };
}

/** Creates an app that answers with the route and the host of a request. */
function whereabouts(): App {
  const app = createApp();
  app.route({
    path: "/admin",
    handler: () => new Response("admin"),
  });
  app.route({
    path: "/*",
    handler: ({ url, headers }) =>
      Response.json({ url, host: headers.get("host") }),
  });
  return app;
}

const get = (host: string, target = "/p") =>
  `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;

const statusOf = (answer: string) => answer.slice(9, 12);

type Mount = (app: App) => {
  fetch(
    request: Request,
    info: Deno.ServeHandlerInfo<Deno.NetAddr>,
  ): Response | Promise<Response>;
};

/** Ways to mount an app, or part of the kit, on `Deno.serve`. */
const MOUNTS: Readonly<Record<string, Mount>> = {
  "an app": (app) => app,
  "withPlugins()": (app) => withPlugins([], (request) => app.fetch(request)),
  "toHono()": (app) =>
    new Hono().use(toHono((_request, _context, next) => next()))
      .all("*", (c) => app.fetch(c.req.raw)),
};

for (const [name, mount] of Object.entries(MOUNTS)) {
  Deno.test(`${name} answers an invalid Host with 400`, async () => {
    const mounted = mount(whereabouts());
    const server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request, info) => mounted.fetch(request, info),
    );
    const { port } = server.addr;
    for (const host of MALFORMED) {
      const answer = await exchange(port, get(host));
      assertEquals(statusOf(answer), "400", host);
    }
    for (const host of VALID) {
      const answer = await exchange(port, get(host));
      assertEquals(statusOf(answer), "200", host);
      assertStringIncludes(
        answer,
        JSON.stringify({ url: `http://${host}/p`, host }),
      );
    }
    await server.shutdown();
  });
}

Deno.test("An app on Node answers an invalid Host with 400, also for upgrades", async () => {
  const app = whereabouts();
  const { upgrader, opened, handler } = opener();
  app.route({ path: "/socket", handler });
  const webSocketServer = new WebSocketServer({ noServer: true });
  const { fetch, upgrade } = toNode(app, { webSocketServer });
  const listening = Promise.withResolvers<void>();
  const server = serveNode(
    { fetch, port: 0, hostname: "127.0.0.1", overrideGlobalObjects: false },
    () => listening.resolve(),
  );
  server.on("upgrade", upgrade);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  for (const host of MALFORMED) {
    const answer = await exchange(port, get(host));
    assertEquals(statusOf(answer), "400", host);
    const socket = handshake({ Host: host }, { target: "/socket" });
    assertEquals(statusOf(await exchange(port, socket)), "400", host);
  }
  assertEquals(opened(), 0);
  for (const host of VALID) {
    assertEquals(statusOf(await exchange(port, get(host))), "200", host);
  }
  await upgrader.close();
  await new Promise((resolve) => server.close(resolve));
});

Deno.test("A WebSocket handshake with an invalid Host opens no socket", async () => {
  const app = createApp();
  app.route({ path: "/*", handler: opener().handler });
  await using server = await app.serve({
    port: 0,
    onListen: () => {},
    signals: false,
  });
  for (const host of MALFORMED) {
    const text = handshake({ Host: host, Connection: "Upgrade, close" });
    assertEquals(
      statusOf(await exchange(server.address.port, text)),
      "400",
      host,
    );
  }
});

Deno.test("The host in a request's target overrides the Host header", async () => {
  const { fetch } = withPlugins([], (request) =>
    Response.json({
      url: request.url,
      host: request.headers.get("host"),
      context: currentContext().get("nothing") ?? "context",
    }));
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    fetch,
  );
  const { port } = server.addr;
  const answer = await exchange(port, get("evil.test", "http://app/p"));
  assertStringIncludes(answer, '"url":"http://app/p","host":"app"');
  for (
    const target of [
      "http://user:pw@app/p",
      "http://app:99999/p",
      "ftp://app/p",
      "http://a b/p",
    ]
  ) {
    const answer = await exchange(port, get("app", target));
    assertEquals(statusOf(answer), "400", target);
  }
  const traced = get("evil.test", "http://app/p").replace("GET", "TRACE");
  assertEquals(statusOf(await exchange(port, traced)), "400");
});

Deno.test("A socket opens under the host in its target", async () => {
  const app = createApp();
  const { upgrader, handler } = opener();
  app.route({
    path: "/*",
    handler: (request) => {
      assertEquals(request.headers.get("host"), "app");
      return handler(request);
    },
  });
  await using server = await app.serve({
    port: 0,
    onListen: () => {},
    signals: false,
  });
  const text = handshake({ Host: "evil.test" }, { target: "http://app/s" });
  using connection = await Deno.connect({ port: server.address.port });
  await connection.write(new TextEncoder().encode(text));
  const buffer = new Uint8Array(1024);
  const size = await connection.read(buffer);
  const answer = new TextDecoder().decode(buffer.subarray(0, size ?? 0));
  assertEquals(statusOf(answer), "101");
  await upgrader.close();
});

Deno.test("cacheResponse() and its pages see the same host", async () => {
  for (const isHono of [false, true]) {
    const cache = createCache().cacheResponse({ maxAge: 60 });
    // As pages with absolute links do.
    const page = ({ headers }: Request) =>
      new Response(`https://${headers.get("host")}/p`);
    const host = isHono
      ? new Hono().use(toHono(cache)).get("/p", (c) => page(c.req.raw))
      : createApp().use(cache).route({ path: "/p", handler: page });
    await using server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {} },
      (request) => host.fetch(request),
    );
    const { port } = server.addr;
    await exchange(port, get("evil.test", "http://app/p"));
    const answer = await exchange(port, get("app"));
    assertStringIncludes(answer, "https://app/p");
  }
});

Deno.test("A Host that would change the path reaches neither routes nor traces", async () => {
  const tracer = createTracer();
  const app = whereabouts();
  const host = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
  }).use((request) => app.fetch(request));
  await using server = await host.serve({
    port: 0,
    onListen: () => {},
    signals: false,
  });
  const answer = await exchange(
    server.address.port,
    get("x/__app/traces/api?"),
  );
  assertEquals(statusOf(answer), "400");
  assertEquals(tracer.getTraces().length, 0);
});

Deno.test("An app answers on a Unix socket, with and without a Host", async () => {
  const folder = await Deno.makeTempDir();
  const path = `${folder}/socket`;
  const app = whereabouts();
  await using server = Deno.serve(
    { path, onListen() {} },
    (request) => app.fetch(request),
  );
  for (
    const [head, status] of [
      ["GET /p HTTP/1.1\r\nHost: a\r\nConnection: close", "200"],
      ["GET /p HTTP/1.0", "200"],
      ["GET /p HTTP/1.1\r\nHost: x/admin?\r\nConnection: close", "400"],
    ] as const
  ) {
    const connection = await Deno.connect({ transport: "unix", path });
    await connection.write(new TextEncoder().encode(`${head}\r\n\r\n`));
    const answer = await new Response(connection.readable).text();
    assertEquals(statusOf(answer), status, head);
  }
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});
