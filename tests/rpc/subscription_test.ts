import { assert, assertEquals } from "@std/assert";
import {
  createApp,
  createUpgrader,
  currentContext,
  type Plugin,
} from "@quartet/kit/app";
import {
  createCaller,
  createRouter,
  procedure,
  rpcPlugin,
  tracked,
  type WSConnectionData,
} from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { z } from "zod";
import {
  connect,
  connectRaw,
  errorLog,
  type Message,
  serveRouter,
  subscribe,
  type TestServer,
  until,
} from "./helpers.ts";

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => signal.addEventListener("abort", resolve));
}

/** Creates generators by how they end, and counts their ends. */
function createGenerators(log = errorLog()) {
  const ends: Record<string, number> = {};
  function count(name: string) {
    ends[name] = (ends[name] ?? 0) + 1;
  }
  const router = createRouter({
    "awaits an abort": procedure.subscription(async function* ({ signal }) {
      try {
        yield "ready";
        await aborted(signal);
      } finally {
        count("awaits an abort");
      }
    }),
    "rejects on abort": procedure.subscription(async function* ({ signal }) {
      try {
        yield "ready";
        await new Promise((_, reject) =>
          signal.addEventListener("abort", () => reject(signal.reason))
        );
      } finally {
        count("rejects on abort");
      }
    }),
    "ticks": procedure.subscription(async function* () {
      try {
        for (let i = 0;; i++) {
          yield i;
          await new Promise((resolve) => setTimeout(resolve));
        }
      } finally {
        count("ticks");
      }
    }),
    "never awaits": procedure.subscription(async function* () {
      try {
        for (let i = 0;; i++) yield i;
      } finally {
        count("never awaits");
      }
    }),
    "is paused by backpressure": procedure.subscription(async function* () {
      try {
        yield "ready";
        for (;;) yield "x".repeat(1 << 20);
      } finally {
        count("is paused by backpressure");
      }
    }),
    "delegates": procedure.subscription(async function* ({ signal }) {
      async function* inner() {
        try {
          yield "ready";
          await aborted(signal);
        } finally {
          count("delegates");
        }
      }
      yield* inner();
    }),
    "awaits in finally": procedure.subscription(
      async function* ({ signal }) {
        try {
          yield "ready";
          await aborted(signal);
        } finally {
          await new Promise((resolve) => setTimeout(resolve));
          count("awaits in finally");
        }
      },
    ),
    "catches everything": procedure.subscription(async function* ({ signal }) {
      try {
        yield "ready";
        await new Promise((_, reject) =>
          signal.addEventListener("abort", reject)
        );
      } catch {
        yield "not finished";
      } finally {
        count("catches everything");
      }
    }),
    "is released by return()": procedure.subscription(() => {
      const released = Promise.withResolvers<void>();
      let first = true;
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            if (!first) await released.promise;
            const done = !first;
            first = false;
            return { done, value: "ready" };
          },
          return() {
            count("is released by return()");
            released.resolve();
            return Promise.resolve({ done: true as const, value: undefined });
          },
        }),
      };
    }),
    "is a hand-written iterator": procedure.subscription(({ signal }) => {
      let first = true;
      return {
        [Symbol.asyncIterator]: () => ({
          async next() {
            if (!first) await aborted(signal);
            first = false;
            return { done: false, value: "ready" };
          },
          return() {
            count("is a hand-written iterator");
            return Promise.resolve({ done: true as const, value: undefined });
          },
        }),
      };
    }),
  }, log);
  const names = Object.keys(router._def);
  return { router, names, ends };
}

/** Ways to end a subscription from outside. */
const endings: Record<
  string,
  (
    client: Awaited<ReturnType<typeof connectRaw>>,
    server: TestServer,
    names: readonly string[],
  ) => Promise<void>
> = {
  async "it is unsubscribed"(client, _server, names) {
    for (const id of names) await client.send({ type: "unsubscribe", id });
  },
  async "its client closes the socket"(client) {
    await client.send(new Uint8Array([0x88, 0x80, 0, 0, 0, 0]));
  },
  "its connection breaks"(client) {
    client.connection.close();
    return Promise.resolve();
  },
  "the app is closed": (_client, server) => server.app.close(),
  "the server shuts down": (_client, server) => server.server.shutdown(),
};

for (const [ending, end] of Object.entries(endings)) {
  Deno.test(`A subscription's finally runs once when ${ending}, whatever it does`, async () => {
    const log = errorLog();
    const { router, names, ends } = createGenerators(log);
    const subscriptions = new Set<Map<string, AbortController>>();
    const observed = {
      ...router,
      websocket: {
        ...router.websocket,
        message(...[ws, message]: Parameters<typeof router.websocket.message>) {
          subscriptions.add(ws.data.subscriptions);
          router.websocket.message(ws, message);
        },
      },
    };
    await using server = await serveRouter(observed);
    // Some are paused at a yield, because their client doesn't read.
    const client = await connectRaw(server.port);
    for (const name of names) await client.send(subscribe(name, name));
    const seen = new Set<string>();
    while (seen.size < names.length) seen.add((await client.next())!.id);
    const [map] = subscriptions;
    assertEquals(map!.size, names.length);

    const ended = end(client, server, names);
    await until(() => Object.keys(ends).length === names.length);
    try {
      client.connection.close();
    } catch {
      // The connection has ended.
    }
    await ended;
    // Yield, in case a finally runs twice.
    await new Promise((resolve) => setTimeout(resolve));
    assertEquals(ends, Object.fromEntries(names.map((name) => [name, 1])));
    assertEquals(map!.size, 0);
    assertEquals(log.logged, []);
  });
}

Deno.test("A ReadableStream without a next chunk is cancelled at once", async () => {
  let cancelled = Promise.withResolvers<void>();
  const router = createRouter({
    silent: procedure.subscription(() =>
      new ReadableStream({
        start: (controller) => controller.enqueue("first"),
        cancel: () => cancelled.resolve(),
      })
    ),
  });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "silent"));
  assertEquals((await client.next()).data, "first");
  client.send({ type: "unsubscribe", id: "a" });
  await cancelled.promise;
  cancelled = Promise.withResolvers();
  for await (const value of createCaller(router).silent.subscribe()) {
    assertEquals(value, "first");
    break;
  }
  await cancelled.promise;
});

Deno.test("A subscription's finally runs once when its generator throws or finishes", async () => {
  const ends: string[] = [];
  const router = createRouter({
    throws: procedure.subscription(async function* () {
      try {
        yield 1;
        throw new Error("x");
      } finally {
        ends.push("throws");
      }
    }),
    returns: procedure.subscription(async function* () {
      try {
        yield 1;
      } finally {
        ends.push("returns");
      }
    }),
    "can't be sent": procedure.subscription(async function* () {
      try {
        yield 1n;
      } finally {
        ends.push("can't be sent");
      }
    }),
    "is refused": procedure.output(z.string()).subscription(
      async function* () {
        try {
          yield 5 as never;
        } finally {
          ends.push("is refused");
        }
      },
    ),
  }, errorLog());
  await using server = await serveRouter(router);
  await using client = await connect(server);
  for (const name of Object.keys(router._def)) {
    client.send(subscribe("a", name));
    let message: Message;
    do message = await client.next(); while (message.type === "data");
    assertEquals(message.type, name === "returns" ? "complete" : "error");
  }
  assertEquals(ends, Object.keys(router._def));
});

Deno.test("A generator that never awaits can be unsubscribed, and doesn't block others", async () => {
  let ended = 0;
  const router = createRouter({
    busy: procedure.subscription(async function* () {
      try {
        for (let i = 0;; i++) yield i;
      } finally {
        ended++;
      }
    }),
    ping: procedure.query(() => "pong"),
  });
  await using server = await serveRouter(router);
  await using busy = await connect(server);
  await using other = await connect(server);
  for (let i = 0; i < 5; i++) busy.send(subscribe(`${i}`, "busy"));
  await busy.take(1_000);
  assertEquals((await server.get("ping")).body.data, "pong");
  assertEquals(await other.settle(), []);
  for (let i = 0; i < 5; i++) busy.send({ type: "unsubscribe", id: `${i}` });
  await until(() => ended === 5);
  assert((await busy.settle()).every(({ type }) => type === "data"));
});

Deno.test("A subscription that ends before its middleware calls next() never starts", async () => {
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  let begun = false;
  const left = Promise.withResolvers<void>();
  const router = createRouter({
    slow: procedure
      .use(async ({ next }) => {
        entered.resolve();
        await gate.promise;
        try {
          return await next();
        } finally {
          left.resolve();
        }
      })
      .subscription(async function* () {
        begun = true;
        yield await Promise.resolve(1);
      }),
  });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "slow"));
  await entered.promise;
  client.send({ type: "unsubscribe", id: "a" });
  await client.settle();
  gate.resolve();
  await left.promise;
  assertEquals(await client.settle(), []);
  assertEquals(begun, false);
});

Deno.test("A subscription's handler receives input, a copy of the request, and the client's lastEventId", async () => {
  const router = createRouter({
    args: procedure.subscription(
      z.object({ from: z.number().default(5) }),
      async function* ({ input, request, path, type, lastEventId, ctx }) {
        const { url, method, headers } = request;
        yield await Promise.resolve({
          ...{ input, path, type, method, lastEventId },
          pathname: new URL(url).pathname,
          cookie: headers.get("cookie"),
          same: ctx.get("user") === "ada",
        });
      },
    ),
  });
  await using server = await serveRouter(router, {}, {
    plugins: [{
      name: "user",
      middleware(_request, context, next) {
        context.set("user", "ada");
        return next();
      },
    }],
  });
  await using client = await connect(server);
  client.send({ ...subscribe("a", "args", {}), lastEventId: "e5" });
  assertEquals((await client.next()).data, {
    input: { from: 5 },
    path: "args",
    type: "subscription",
    method: "GET",
    lastEventId: "e5",
    pathname: "/api/rpc",
    cookie: null,
    same: true,
  });
});

Deno.test("Tracked values have their ids, other values none, and undefined has no data", async () => {
  const router = createRouter({
    checked: procedure.output(z.object({ n: z.number() }))
      .subscription(async function* () {
        const value = { n: 1, secret: "s" };
        yield await Promise.resolve(tracked("e1", value));
      }),
    mixed: procedure.subscription(async function* () {
      yield tracked("e1", { n: 1 });
      yield await Promise.resolve("plain");
      yield undefined;
      yield null;
    }),
  });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe('"id"', "mixed"));
  assertEquals(await client.take(5), [
    { type: "data", id: '"id"', data: { n: 1 }, eventId: "e1" },
    { type: "data", id: '"id"', data: "plain" },
    { type: "data", id: '"id"' },
    { type: "data", id: '"id"', data: null },
    { type: "complete", id: '"id"' },
  ]);
  client.send(subscribe("checked", "checked"));
  assertEquals(await client.take(2), [
    { type: "data", id: "checked", data: { n: 1 }, eventId: "e1" },
    { type: "complete", id: "checked" },
  ]);
});

Deno.test("The signal of a finished subscription isn't aborted, even when the client leaves", async () => {
  const signals: AbortSignal[] = [];
  const router = createRouter({
    short: procedure.subscription(async function* ({ signal }) {
      signals.push(signal);
      yield await Promise.resolve(1);
    }),
  });
  await using server = await serveRouter(router);
  await using client = await connect(server);
  client.send(subscribe("a", "short"));
  await client.take(2);
  client.socket.close();
  await client.closed;
  await server.app.close();
  assertEquals(signals.map(({ aborted }) => aborted), [false]);
});

Deno.test("The handler for other servers serves and ends subscriptions like the plugin", async () => {
  const { router, names, ends } = createGenerators();
  const plugin = rpcPlugin({ router });
  const upgrader = createUpgrader<WSConnectionData>(
    plugin.getWebSocketConfig(),
  );
  await using server = Deno.serve(
    { port: 0, onListen() {} },
    (request) =>
      plugin.upgradeToWebSocket(upgrader, request, { get() {}, set() {} })
        ? upgrader.response(request)!
        : router.handler(request),
  );
  const url = `http://127.0.0.1:${server.addr.port}/api/rpc`;
  const client = await connect({ url });
  for (const name of names) client.send(subscribe(name, name));
  const seen = new Set<string>();
  while (seen.size < names.length) seen.add((await client.next()).id);
  await upgrader.close();
  await client.closed;
  await until(() => Object.keys(ends).length === names.length);
  assertEquals(ends, Object.fromEntries(names.map((name) => [name, 1])));
});

Deno.test("A socket without its original request works until a handler reads the request", async () => {
  const log = errorLog();
  const router = createRouter({
    plain: procedure.subscription(async function* () {
      yield await Promise.resolve(1);
    }),
    asks: procedure.subscription(async function* ({ request }) {
      yield await Promise.resolve(request.url);
    }),
  }, log);
  const upgrader = createUpgrader<WSConnectionData>(router.websocket);
  await using server = Deno.serve(
    { port: 0, onListen() {} },
    (request) => {
      const data = { subscriptions: new Map(), ctx: {} };
      upgrader.upgrade(request, { data });
      return upgrader.response(request)!;
    },
  );
  const client = await connect({ url: `http://127.0.0.1:${server.addr.port}` });
  client.send(subscribe("plain", "plain"));
  assertEquals((await client.take(2))[0]!.data, 1);
  client.send(subscribe("asks", "asks"));
  assertEquals((await client.next()).error?.code, "INTERNAL_ERROR");
  assertEquals(log.logged.map(String), [
    "TypeError: Cannot read request: the data of the socket has no originalRequest",
  ]);
  await upgrader.close();
  await client.closed;
});

const pathPlugin: Plugin = {
  name: "path",
  middleware(request, context, next) {
    context.set("path", new URL(request.url).pathname);
    return next();
  },
};

Deno.test("A generator that waits while it is unsubscribed ends in the context of its request", async () => {
  const waiting = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const left = Promise.withResolvers<unknown>();
  const router = createRouter({
    clock: procedure.subscription(async function* ({ signal }) {
      try {
        signal.addEventListener("abort", () => gate.resolve());
        waiting.resolve();
        await gate.promise;
        yield "tick";
      } finally {
        left.resolve(
          new Promise((resolve) => resolve(currentContext().get("path"))),
        );
      }
    }),
  });
  const app = createApp({
    plugins: [
      tracePlugin(createTracer(), { authorize: () => false }),
      pathPlugin,
      rpcPlugin({ router }),
    ],
  });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const origin = `http://127.0.0.1:${server.address.port}`;
  await using client = await connect({ url: `${origin}/api/rpc` });
  await client.send(subscribe("1", "clock"));
  await waiting.promise;
  await client.send({ type: "unsubscribe", id: "1" });
  assertEquals(await left.promise, "/api/rpc");
});

Deno.test("A stream that another request ends returns in the context of its own request", async () => {
  const left = Promise.withResolvers<unknown>();
  const done = { done: true, value: undefined } as const;
  const router = createRouter({
    clock: procedure.subscription((): AsyncIterable<string> => {
      const values = ["tick"];
      const iterator: AsyncIterator<string> = {
        async next() {
          const value = values.pop();
          if (value !== undefined) return { done: false, value };
          await left.promise;
          return done;
        },
        return() {
          left.resolve(currentContext().get("path"));
          return Promise.resolve(done);
        },
      };
      return { [Symbol.asyncIterator]: () => iterator };
    }),
  });
  const rpc = rpcPlugin({ router });
  const app = createApp({
    plugins: [pathPlugin, rpc],
    routes: [{
      path: "/close",
      loader() {
        rpc.close!();
        return null;
      },
    }],
  });
  await using server = await app.serve({
    port: 0,
    signals: false,
    onListen() {},
  });
  const origin = `http://127.0.0.1:${server.address.port}`;
  await using client = await connect({ url: `${origin}/api/rpc` });
  client.send(subscribe("1", "clock"));
  assertEquals((await client.next()).data, "tick");
  await (await fetch(`${origin}/close`)).body?.cancel();
  assertEquals(await left.promise, "/api/rpc");
});
