/** Work that goes on at a shutdown ends before what it needs is closed. */

import { assertEquals, assertRejects } from "@std/assert";
import { createApp, serve, withPlugins } from "@quartet/kit/app";
import type { Plugin, Server } from "@quartet/kit/app";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import type { UpgradeServer } from "@quartet/kit/rpc";
import { captureErrors, UNHURRIED } from "../helpers.ts";
import { connect, subscribe } from "../rpc/helpers.ts";

const SILENT = { port: 0, onListen: () => {}, signals: false };

function endpointOf({ address }: Pick<Server, "address">) {
  return { url: `http://127.0.0.1:${address.port}/api/rpc` };
}

/** Creates a database that takes a moment for each query. */
function createDatabase() {
  const log: string[] = [];
  let isOpen = true;
  return {
    log,
    async query(text: string): Promise<string> {
      await new Promise((resolve) => setTimeout(resolve, 30));
      log.push(isOpen ? text : `closed before: ${text}`);
      return text;
    },
    plugin: {
      name: "database",
      close() {
        isOpen = false;
        log.push("close");
      },
    } satisfies Plugin,
  };
}

/** Creates subscriptions whose cleanup needs the database. */
function createSubscriptions({ query }: ReturnType<typeof createDatabase>) {
  return createRouter({
    polls: procedure.subscription(async function* () {
      try {
        for (;;) yield await query("poll");
      } finally {
        await query("polls: offline");
      }
    }),
    waits: procedure.subscription(async function* ({ signal }) {
      try {
        yield "";
        await new Promise((resolve) =>
          signal.addEventListener("abort", resolve)
        );
      } finally {
        await query("waits: offline");
      }
    }),
  });
}

type Mount = (plugins: readonly Plugin[]) => Server | Promise<Server>;

const MOUNTS: Readonly<Record<string, Mount>> = {
  "app.serve()": (plugins) =>
    createApp({ plugins }).serve({ ...SILENT, shutdownTimeout: UNHURRIED }),
  "withPlugins() and serve()": (plugins) => {
    const handle = withPlugins(plugins, () => new Response("other"));
    return serve(handle, { ...SILENT, shutdownTimeout: UNHURRIED });
  },
};

for (const [name, mount] of Object.entries(MOUNTS)) {
  for (const gone of ["", ", also of a client that is gone"]) {
    Deno.test(`${name}: the finally of a subscription runs before the next plugins close${gone}`, async () => {
      const database = createDatabase();
      const router = createSubscriptions(database);
      const server = await mount([database.plugin, rpcPlugin({ router })]);
      await using client = await connect(endpointOf(server));
      for (const path of ["polls", "waits"]) {
        client.send(subscribe(path, path));
      }
      const seen = new Set<unknown>();
      while (seen.size < 2) seen.add((await client.next()).id);
      if (gone !== "") await client[Symbol.asyncDispose]();
      await server.shutdown();
      assertEquals(
        database.log.filter((text) => text !== "poll").toSorted(),
        ["close", "polls: offline", "waits: offline"],
      );
      assertEquals(database.log.at(-1), "close");
    });
  }
}

Deno.test("A generator that ignores its signal doesn't keep a server from shutting down", async () => {
  const stuck = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  const router = createRouter({
    deaf: procedure.subscription(async function* () {
      try {
        yield 1;
        await stuck.promise;
      } finally {
        ended.resolve();
      }
    }),
  });
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  const server = await app.serve({ ...SILENT, shutdownTimeout: 0.1 });
  await using client = await connect(endpointOf(server));
  client.send(subscribe("1", "deaf"));
  await client.next();
  using errors = captureErrors();
  await server.shutdown();
  stuck.resolve();
  await ended.promise;
  assertEquals(errors.lines, [
    "Subscriptions that still run after the shutdown: %d; pass their signal on to whatever they wait for 1",
  ]);
});

/** Creates a subscription whose `finally` waits for `finish()`. */
function createSlowEnd() {
  const gate = Promise.withResolvers<void>();
  const aborted = Promise.withResolvers<void>();
  const router = createRouter({
    slow: procedure.subscription(async function* ({ signal }) {
      signal.addEventListener("abort", () => aborted.resolve());
      try {
        yield 1;
        await aborted.promise;
      } finally {
        await gate.promise;
      }
    }),
  });
  return { router, aborted: aborted.promise, finish: gate.resolve };
}

Deno.test("While an RPC plugin closes, it opens no sockets, and a second close() waits too", async () => {
  const { router, aborted, finish } = createSlowEnd();
  const rpc = rpcPlugin({ router });
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => rpc.handle(request) ?? new Response("other"),
  );
  const endpoint = endpointOf({ address: server.addr });
  await using client = await connect(endpoint);
  client.send(subscribe("1", "slow"));
  await client.next();
  using errors = captureErrors();
  const closed = Promise.all([rpc.close!(), rpc.close!()]);
  await aborted;
  await assertRejects(() => connect(endpoint), Error, "refused");
  finish();
  await closed;
  assertEquals(errors.lines, []);
});

Deno.test("close() of an RPC plugin doesn't wait for sockets of other servers, which close them", async () => {
  const { router, aborted, finish } = createSlowEnd();
  const rpc = rpcPlugin({ router });
  const websocket = rpc.getWebSocketConfig();
  const opened: WebSocket[] = [];
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    (request) => {
      let upgraded = new Response("other");
      const upgrade: UpgradeServer["upgrade"] = (request, { data }) => {
        const { socket, response } = Deno.upgradeWebSocket(request);
        const ws = Object.assign(socket, { data }) as never;
        socket.onmessage = ({ data }) => websocket.message(ws, data);
        socket.onclose = () => websocket.close!(ws, 1000, "");
        opened.push(socket);
        upgraded = response;
        return true;
      };
      rpc.upgradeToWebSocket({ upgrade }, request, {});
      return upgraded;
    },
  );
  await using client = await connect(endpointOf({ address: server.addr }));
  client.send(subscribe("1", "slow"));
  await client.next();
  using errors = captureErrors();
  await rpc.close!();
  assertEquals(errors.lines, []);
  opened[0]!.close();
  await aborted;
  finish();
});

Deno.test("A late shutdown reports no subscriptions if there are none", async () => {
  const { router } = createSlowEnd();
  const { promise, resolve } = Promise.withResolvers<string>();
  const begun = Promise.withResolvers<void>();
  const app = createApp({ plugins: [rpcPlugin({ router })] });
  app.route({
    path: "/",
    loader() {
      begun.resolve();
      return promise;
    },
  });
  const server = await app.serve({ ...SILENT, shutdownTimeout: 0.05 });
  const url = `http://127.0.0.1:${server.address.port}/`;
  const answer = fetch(url).then((response) => response.text(), () => "");
  await begun.promise;
  using errors = captureErrors();
  await server.shutdown();
  resolve("late");
  await answer;
  assertEquals(errors.lines, []);
});

for (const kind of ["cached()", "cacheResponse()"]) {
  Deno.test(`close() of a cache waits for refreshes of ${kind}, so that the database is still open`, async () => {
    const database = createDatabase();
    let now = 0;
    const cache = createCache({ now: () => now });
    const policy = { maxAge: 1, staleWhileRevalidate: 100 };
    const load = () => database.query(`load at ${now}`);
    const app = createApp({
      plugins: [database.plugin, { name: "cache", close: () => cache.close() }],
    });
    if (kind === "cached()") {
      app.route({ path: "/", loader: () => cache.cached("k", load, policy) });
    } else {
      app.use(cache.cacheResponse(policy));
      app.route({ path: "/", handler: async () => new Response(await load()) });
    }
    const ask = async () =>
      await (await app.fetch(new Request("http://localhost/"))).text();
    const first = await ask();
    now = 2_000;
    assertEquals(await ask(), first);
    await app.close();
    assertEquals(database.log, ["load at 0", "load at 2000", "close"]);
  });
}

Deno.test("A refresh that hangs doesn't keep a server from shutting down", async () => {
  let now = 0;
  let calls = 0;
  const cache = createCache({ now: () => now });
  const hanging = Promise.withResolvers<number>();
  const app = createApp({
    plugins: [{ name: "cache", close: () => cache.close() }],
    routes: [{
      path: "/",
      loader: () =>
        cache.cached(
          "k",
          () => calls++ === 0 ? 1 : hanging.promise,
          { maxAge: 1, staleWhileRevalidate: 100 },
        ),
    }],
  });
  const server = await app.serve({ ...SILENT, shutdownTimeout: 0.1 });
  const url = `http://127.0.0.1:${server.address.port}/`;
  for (const time of [0, 2_000]) {
    now = time;
    assertEquals(await (await fetch(url)).json(), 1);
  }
  assertEquals(calls, 2);
  await server.shutdown();
  hanging.resolve(2);
});
