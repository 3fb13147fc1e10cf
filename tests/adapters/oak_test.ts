/**
 * Oak within `withPlugins()`. The Oak package on npm targets Node and has its
 * own `Request` and `Response`, so the test converts them to the runtime's.
 *
 * @module
 */

import { assertEquals } from "@std/assert";
import { currentContext, withPlugins } from "@quartet/kit/app";
import { getAuth } from "@quartet/kit/auth";
import { createClient } from "@quartet/kit/rpc/client";
import { createBrowser } from "../auth/browser.ts";
import { connect, subscribe, until } from "../rpc/helpers.ts";
import { createKit } from "./kit.ts";
import type { Api, Kit } from "./kit.ts";

// Oak prints a warning when it's loaded.
const { warn } = console;
console.warn = () => {};
const { Application, Router } = await import("@oakserver/oak");
console.warn = warn;

/** Type of `Application.handle` in Oak for Deno. */
type Handle = (
  request: Request,
  address: Deno.NetAddr,
) => Promise<Response | undefined>;

function createOak(kit: Kit): Handle {
  const router = new Router();
  router.post("/sign-in", async (ctx) => {
    const body = await ctx.request.body.json();
    const { userId } = await getAuth(currentContext())
      .signIn("credentials", body);
    ctx.response.body = { userId };
  });
  router.get("/known", (ctx) => {
    ctx.response.body = JSON.stringify(
      getAuth(currentContext()).isAuthenticated(),
    );
  });
  router.get("/cities", async (ctx) => {
    ctx.response.body = await (await kit.cities()).json();
  });
  router.get("/fail", (ctx) => ctx.throw(503));
  const app = new Application({ logErrors: false });
  app.use(router.routes());
  const handle = app.handle as unknown as Handle;
  return async (request, address) => {
    const response = await handle(request, address);
    if (response === undefined) return undefined;
    const { body, status, headers } = response;
    return new Response(body, { status, headers: [...headers] });
  };
}

Deno.test("Oak: all modules work within withPlugins()", async () => {
  using kit = createKit();
  const handle = createOak(kit);
  const app = withPlugins(
    [kit.trace, kit.auth, kit.rpc],
    async (request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) =>
      await handle(request, info.remoteAddr) ??
        new Response(null, { status: 404 }),
  );
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    app.fetch,
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const browser = createBrowser(origin);

  assertEquals(await browser.json("/known"), false);
  const wrong = await browser.ask("/sign-in", { body: { name: "ada" } });
  assertEquals(wrong.status, 401);
  await wrong.body?.cancel();
  const body = { name: "ada", password: "engine" };
  assertEquals(await browser.json("/sign-in", { body }), { userId: "1" });
  assertEquals(await browser.json("/known"), true);

  const httpEndpoint = `${origin}/api/rpc`;
  const rpc = createClient<Api>({ httpEndpoint });
  assertEquals(await browser.json("/cities"), ["Rome"]);
  await rpc.found.mutate();
  assertEquals(await browser.json("/cities"), ["Rome", "Oslo"]);

  await using client = await connect({ url: httpEndpoint });
  client.send(subscribe("a", "watch"));
  const messages = await client.take(3);
  assertEquals(messages.map(({ data }) => data), ["nobody", "Rome", "Oslo"]);

  const failed = await browser.ask("/fail");
  assertEquals(await failed.text(), "Service Unavailable");
  const id = failed.headers.get("x-app-trace-id")!;
  await until(() => kit.tracer.getTrace(id) !== undefined);
  assertEquals(kit.tracer.getTrace(id)?.metadata.statusCode, 503);
  const viewer = await fetch(`${origin}/__app/traces`);
  assertEquals(viewer.status, 200);
  await viewer.body?.cancel();

  await app.close();
  await client.closed;
  await server.shutdown();
});
