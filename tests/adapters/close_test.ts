/** `close()` of hosts on servers that don't wait for requests themselves. */

import { assertEquals } from "@std/assert";
import {
  createApp,
  serve as serveWithDeno,
  toHono,
  toMiddleware,
  toNode,
  withPlugins,
} from "@quartet/kit/app";
import type { Plugin } from "@quartet/kit/app";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { once } from "node:events";
import type { AddressInfo } from "node:net";

interface Closable {
  readonly fetch: (request: Request) => Response | Promise<Response>;
  readonly close: () => Promise<void>;
}

type Answer = () => Promise<Response>;

const HOSTS: Record<string, (plugin: Plugin, answer: Answer) => Closable> = {
  "createApp()": (plugin, answer) =>
    createApp({
      plugins: [plugin],
      routes: [{ path: "/", handler: answer }],
    }),
  "withPlugins()": (plugin, answer) => withPlugins([plugin], answer),
  "toHono()": (plugin, answer) => {
    const kit = toHono(plugin);
    const app = new Hono().use(kit).get("/", answer);
    return { fetch: (request) => app.fetch(request), close: kit.close };
  },
  "toMiddleware()": (plugin, answer) => {
    const kit = toMiddleware(plugin);
    return {
      fetch: (request) => kit(request, undefined, answer),
      close: kit.close,
    };
  },
};

/** A plugin with a resource, and a handler that needs it after a while. */
function slowParts() {
  const running = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let isOpen = true;
  let calls = 0;
  return {
    running: running.promise,
    finish: gate.resolve,
    calls: () => calls,
    isOpen: () => isOpen,
    plugin: { name: "database", close: () => void (isOpen = false) },
    async answer() {
      calls++;
      running.resolve();
      await gate.promise;
      return new Response(isOpen ? "open" : "closed");
    },
  };
}

/** Counts the timers of 10 s that run out: `close()` has waited for a request. */
function countFullWaits() {
  const { setTimeout } = globalThis;
  let count = 0;
  globalThis.setTimeout =
    ((fn: () => void, delay?: number) =>
      setTimeout(() => {
        if (delay === 10_000) count++;
        fn();
      }, delay)) as typeof setTimeout;
  return {
    get count() {
      return count;
    },
    [Symbol.dispose]: () => void (globalThis.setTimeout = setTimeout),
  };
}

for (const [name, create] of Object.entries(HOSTS)) {
  Deno.test(`close() of ${name} on Node refuses new requests and waits for pending ones before it closes plugins`, async () => {
    const parts = slowParts();
    const host = create(parts.plugin, parts.answer);
    const server = serve({
      ...toNode(host),
      overrideGlobalObjects: false,
      hostname: "127.0.0.1",
      port: 0,
    });
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const pending = fetch(url).then((response) => response.text());
    await parts.running;

    const closed = host.close();
    const refused = await fetch(url, { signal: AbortSignal.timeout(60_000) });
    assertEquals(refused.status, 503);
    assertEquals((await refused.json()).error.code, "SHUTTING_DOWN");
    assertEquals([parts.calls(), parts.isOpen()], [1, true]);

    parts.finish();
    assertEquals(await pending, "open");
    await closed;
    assertEquals(parts.isOpen(), false);
    const late = await fetch(url);
    assertEquals(late.status, 503);
    await late.body?.cancel();
    assertEquals(parts.calls(), 1);
    server.close();
    await once(server, "close");
  });

  Deno.test(`close() of ${name} within a request doesn't wait for that request`, async () => {
    const { plugin, isOpen } = slowParts();
    const host: Closable = create(plugin, async () => {
      await host.close();
      return new Response(String(isOpen()));
    });
    const response = await host.fetch(new Request("http://localhost/"));
    assertEquals(await response.text(), "false");
  });

  Deno.test(`serve() waits for requests of ${name} only for its own shutdownTimeout`, async () => {
    const parts = slowParts();
    const { fetch: answer, close } = create(parts.plugin, parts.answer);
    const server = serveWithDeno(
      // As in an app of Hono, whose plugins are closed by a function around it.
      {
        fetch: answer,
        async close() {
          await Promise.resolve();
          await close();
        },
      },
      { port: 0, signals: false, shutdownTimeout: 0.05, onListen() {} },
    );
    const pending = fetch(`http://127.0.0.1:${server.address.port}/`)
      .then((response) => response.text(), () => "cut off");
    await parts.running;
    using waits = countFullWaits();
    await server.shutdown();
    assertEquals(waits.count, 0);
    assertEquals(parts.isOpen(), false);
    assertEquals(await pending, "cut off");
    parts.finish();
  });
}

Deno.test("A running request can still call its own app while the app closes", async () => {
  const gate = Promise.withResolvers<void>();
  const app = createApp();
  app.route({ path: "/inner", handler: () => new Response("inner") });
  app.route({
    path: "/",
    async handler() {
      await gate.promise;
      return await app.fetch(new Request("http://localhost/inner"));
    },
  });
  const pending = app.fetch(new Request("http://localhost/"));
  const closed = app.close();
  gate.resolve();
  assertEquals(await (await pending).text(), "inner");
  await closed;
});

Deno.test("Requests that all call close() wait neither for themselves nor for each other", async () => {
  const both = Promise.withResolvers<void>();
  let calls = 0;
  const app = createApp();
  app.route({
    path: "/",
    async handler() {
      if (++calls === 2) both.resolve();
      await both.promise;
      await app.close();
      return new Response("closed");
    },
  });
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    app.fetch,
  );
  using waits = countFullWaits();
  const get = async () =>
    await (await fetch(`http://127.0.0.1:${server.addr.port}/`)).text();
  assertEquals(await Promise.all([get(), get()]), ["closed", "closed"]);
  assertEquals(waits.count, 0);
  await server.shutdown();
});

Deno.test("close() waits for pending requests for 10 s at most", async () => {
  const parts = slowParts();
  const app = HOSTS["createApp()"]!(parts.plugin, parts.answer);
  const pending = app.fetch(new Request("http://localhost/"));
  await parts.running;
  const { setTimeout } = globalThis;
  const delays: (number | undefined)[] = [];
  globalThis.setTimeout = ((fn: () => void, delay?: number) => {
    delays.push(delay);
    return setTimeout(fn, (delay ?? 0) / 1_000);
  }) as typeof setTimeout;
  try {
    await app.close();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
  assertEquals(delays, [10_000]);
  assertEquals(parts.isOpen(), false);
  parts.finish();
  await (await pending).body?.cancel();
});
