/** Requests that become a WebSocket, and then get another response. */

import { assertEquals } from "@std/assert";
import {
  createApp,
  createUpgrader,
  type Fetcher,
  type Plugin,
  withPlugins,
} from "@quartet/kit/app";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
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

for (const [what, create] of Object.entries(APPS)) {
  Deno.test(`If ${what} after an upgrade, its socket is closed and the server goes on`, async () => {
    const app = create();
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request, info) => app.fetch(request, info),
    );
    const address = `127.0.0.1:${server.addr.port}`;
    using _errors = captureErrors();
    const socket = new WebSocket(`ws://${address}`);
    const { code } = await new Promise<CloseEvent>((resolve) =>
      socket.onclose = resolve
    );
    assertEquals(code, 1011);
    assertEquals(await (await fetch(`http://${address}`)).text(), "plain");
    assertEquals(upgrader.size, 0);
  });
}
