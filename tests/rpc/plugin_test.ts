import { assert, assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { batching, createClient } from "@quartet/kit/rpc/client";
import { connect, serveRouter, subscribe } from "./helpers.ts";

const router = createRouter({
  ping: procedure.query(() => "pong"),
  who: procedure.query(({ ctx }) => ctx.get("user") ?? "nobody"),
  stream: procedure.subscription(async function* ({ ctx }) {
    yield await Promise.resolve(ctx.get("user") ?? "nobody");
  }),
});

Deno.test("rpcPlugin() serves calls and sockets at its endpoint and ignores other paths", async () => {
  await using server = await serveRouter(router, { endpoint: "/rpc" }, {
    routes: [{ path: "/rpcs", handler: () => new Response("mine") }],
  });
  assertEquals((await server.get("ping")).body.data, "pong");
  await using client = await connect(server);
  client.send(subscribe("a", "stream"));
  assertEquals((await client.next()).data, "nobody");
  const others = await fetch(server.url.replace("/rpc", "/rpcs"));
  assertEquals(await others.text(), "mine");
  const none = await fetch(server.url.replace("/rpc", "/api/rpc"));
  assertEquals(none.status, 404);
  await none.body?.cancel();
});

Deno.test("rpcPlugin() answers a query synchronously if nothing waits", async () => {
  const plugin = rpcPlugin({ router });
  const url = "http://localhost/api/rpc?path=";
  const pong = plugin.handle(new Request(`${url}ping`));
  assert(pong instanceof Response);
  assertEquals(await pong.json(), { ok: true, data: "pong" });
  const missing = plugin.handle(new Request(`${url}missing`));
  assert(missing instanceof Response);
  assertEquals(missing.status, 404);
  await missing.body?.cancel();
  // A router's handler always returns a promise.
  const response = router.handler(new Request(`${url}ping`));
  assert(response instanceof Promise);
  assertEquals((await response).status, 200);
  await (await response).body?.cancel();
});

Deno.test("Handlers receive the host's context with the values of other plugins", async () => {
  const user = {
    name: "user",
    middleware: (
      request: Request,
      context: { set(key: string, value: unknown): void },
      next: () => Promise<Response>,
    ) => {
      context.set("user", new URL(request.url).searchParams.get("as"));
      return next();
    },
  };
  await using server = await serveRouter(router, {}, { plugins: [user] });
  assertEquals(
    (await server.request({}, "?path=who&as=ada")).body.data,
    "ada",
  );
  await using client = await connect({ url: `${server.url}?as=ada` });
  client.send(subscribe("a", "stream"));
  assertEquals((await client.next()).data, "ada");
});

Deno.test("A host middleware that responds blocks calls and sockets", async () => {
  await using server = await serveRouter(router, {}, {
    plugins: [{
      name: "closed",
      middleware: () => new Response("closed", { status: 503 }),
    }],
  });
  assertEquals((await server.get("ping")).status, 503);
  let refused = false;
  await connect(server).catch(() => refused = true);
  assert(refused);
});

Deno.test("Closing the app ends its sockets with code 1001", async () => {
  await using server = await serveRouter(router);
  const client = await connect(server);
  await server.app.close();
  assertEquals((await client.closed).code, 1001);
});

Deno.test("upgradeToWebSocket() rejects requests that aren't handshakes, of other origins, or for other paths", () => {
  const plugin = rpcPlugin({ router });
  const upgraded: unknown[] = [];
  const server = {
    upgrade(_request: Request, { data }: { data: unknown }) {
      upgraded.push(data);
      return true;
    },
  };
  const ask = (url: string, headers: Record<string, string>, method = "GET") =>
    plugin.upgradeToWebSocket(
      server,
      new Request(url, { method, headers }),
      "context",
    );
  const url = "http://app.example/api/rpc";
  const upgrade = "WebSocket";
  assertEquals(ask(url, {}), false);
  assertEquals(ask(url, { upgrade: "h2c" }), false);
  assertEquals(ask(url, { upgrade }, "POST"), false);
  assertEquals(ask(`${url}/x`, { upgrade }), false);
  assertEquals(ask(url, { upgrade, origin: "https://evil.example" }), false);
  assertEquals(upgraded, []);

  assertEquals(ask(`${url}?a=b`, { upgrade, cookie: "c=d" }), true);
  const [data] = upgraded as {
    subscriptions: Map<string, AbortController>;
    ctx: unknown;
    originalRequest: Request;
  }[];
  assertEquals(data!.subscriptions, new Map());
  assertEquals(data!.ctx, "context");
  assertEquals(data!.originalRequest.url, `${url}?a=b`);
  assertEquals(data!.originalRequest.headers.get("cookie"), "c=d");
});

Deno.test("upgradeToWebSocket() returns the server's result of the upgrade", () => {
  const plugin = rpcPlugin({ router });
  const request = new Request("http://app.example/api/rpc", {
    headers: { upgrade: "websocket" },
  });
  const refusing = { upgrade: () => false };
  assertEquals(plugin.upgradeToWebSocket(refusing, request, {}), false);
});

Deno.test("The plugin's WebSocket config has its documented fields", () => {
  const config = rpcPlugin({ router }).getWebSocketConfig();
  assertEquals(typeof config.message, "function");
  for (const name of ["open", "close", "drain"] as const) {
    assert(["function", "undefined"].includes(typeof config[name]));
  }
  assertEquals(config, router.websocket);
});

Deno.test("rpcPlugin() rejects invalid routers, and endpoints that aren't paths", () => {
  for (const wrong of [undefined, null, {}, router._def, 5]) {
    assertThrows(
      () => rpcPlugin({ router: wrong as never }),
      TypeError,
      "Cannot create RPC plugin: router must be what createRouter() returns",
    );
  }
  for (const endpoint of ["", "/", "rpc", "/rpc/", "/rpc?a", "/a#b", 5]) {
    assertThrows(
      () => rpcPlugin({ router, endpoint: endpoint as string }),
      TypeError,
      "Cannot create RPC plugin: endpoint must be a path",
    );
  }
});

Deno.test("The plugin works without a server, through the app's fetch", async () => {
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  const url = "http://localhost/api/rpc?path=ping";
  const response = await app.fetch(new Request(url));
  assertEquals(await response.json(), { ok: true, data: "pong" });
  await app.close();
});

Deno.test("An endpoint that ends in a slash serves calls, batches and sockets, too", async () => {
  const router = createRouter({
    ping: procedure.query(() => "pong"),
    count: procedure.subscription(async function* () {
      yield await Promise.resolve(1);
    }),
  });
  await using server = await createApp({ plugins: [rpcPlugin({ router })] })
    .serve({ port: 0, onListen() {} });
  const httpEndpoint = `http://127.0.0.1:${server.address.port}/api/rpc/`;
  for (const batch of [undefined, batching]) {
    const rpc = createClient<typeof router>({
      httpEndpoint,
      ...batch && { batch },
    });
    assertEquals(await rpc.ping.query(), "pong");
    for await (const value of rpc.count.subscribe()) assertEquals(value, 1);
  }
});
