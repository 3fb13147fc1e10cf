/** Requests that become a WebSocket, and then get another response or a closed host. */

import { assertEquals } from "@std/assert";
import {
  createApp,
  createUpgrader,
  type Fetcher,
  type Plugin,
  serve,
  toHono,
  withPlugins,
} from "@quartet/kit/app";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { Hono } from "hono";
import { captureErrors } from "../helpers.ts";

const isSocket = ({ headers }: Request) => headers.has("upgrade");

const failing: Plugin = {
  name: "failing",
  async middleware(request, _context, next) {
    const response = await next();
    if (isSocket(request)) throw new Error("after the upgrade");
    return response;
  },
};
const replacing: Plugin = {
  name: "replacing",
  async middleware(request, _context, next) {
    const response = await next();
    return isSocket(request) ? new Response("no", { status: 403 }) : response;
  },
};

const upgrader = createUpgrader<null>({ message() {} });
const upgrade = (request: Request) =>
  upgrader.upgrade(request, { data: null })
    ? upgrader.response(request)!
    : new Response("plain");
const routes = [{ path: "/", handler: upgrade }];
const inner = () => createApp({ plugins: [replacing], routes });

const APPS: Readonly<Record<string, () => Fetcher>> = {
  "a middleware fails": () => createApp({ plugins: [failing], routes }),
  "a middleware replaces the response": inner,
  "a traced handler fails": () =>
    withPlugins(
      [tracePlugin(createTracer(), { authorize: () => false })],
      (request) => {
        const response = upgrade(request);
        if (isSocket(request)) throw new Error("after the upgrade");
        return response;
      },
    ),
  "an app around the one that upgrades fails": () =>
    withPlugins([failing], (request, info) => inner().fetch(request, info)),
};

const FETCHERS: Readonly<Record<string, () => Fetcher>> = {
  ...APPS,
  "a fetch function throws": () => ({
    fetch(request) {
      const response = upgrade(request);
      if (isSocket(request)) throw new Error("after the upgrade");
      return response;
    },
  }),
  "a middleware of Hono fails": () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      if (isSocket(c.req.raw)) throw new Error("after the upgrade");
    });
    return app.all("/", (c) => upgrade(c.req.raw));
  },
  "a middleware around the kit's in Hono replaces the response": () => {
    const app = new Hono();
    app.use(async (c, next) => {
      await next();
      if (!isSocket(c.req.raw)) return;
      c.res = undefined;
      c.res = new Response("no", { status: 403 });
    });
    app.use(toHono({ name: "none" }));
    return app.all("/", (c) => upgrade(c.req.raw));
  },
};

/** Connects a socket that must be closed, and then asks the server again. */
async function expectClosed(port: number): Promise<void> {
  const address = `127.0.0.1:${port}`;
  const socket = new WebSocket(`ws://${address}`);
  const { code } = await new Promise<CloseEvent>((resolve) =>
    socket.onclose = resolve
  );
  assertEquals(code, 1011);
  assertEquals(await (await fetch(`http://${address}`)).text(), "plain");
  assertEquals(upgrader.size, 0);
}

for (const [what, create] of Object.entries(APPS)) {
  Deno.test(`If ${what} after an upgrade, its socket is closed and the server goes on`, async () => {
    const app = create();
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request, info) => app.fetch(request, info),
    );
    using _errors = captureErrors();
    await expectClosed(server.addr.port);
  });
}

for (const [what, create] of Object.entries(FETCHERS)) {
  Deno.test(`If ${what} after an upgrade, serve() closes the socket and goes on`, async () => {
    await using server = serve(create(), {
      port: 0,
      signals: false,
      onListen() {},
    });
    using _errors = captureErrors();
    await expectClosed(server.address.port);
  });
}

Deno.test("Closing rpcPlugin() ends a socket whose first upgrade has just begun", async () => {
  const router = createRouter({ ping: procedure.query(() => "pong") });
  const plugin = rpcPlugin({ router });
  let closing: unknown;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    async (request) => {
      const response = plugin.handle(request);
      closing = plugin.close!();
      return (await response)!;
    },
  );
  const socket = new WebSocket(`ws://127.0.0.1:${server.addr.port}/api/rpc`);
  const { code } = await new Promise<CloseEvent>((resolve) =>
    socket.onclose = resolve
  );
  assertEquals(code, 1001);
  await closing;
});
