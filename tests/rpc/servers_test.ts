import { assertEquals, assertThrows } from "@std/assert";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createClient } from "@quartet/kit/rpc/client";
import { Hono } from "hono";
import { z } from "zod";

interface Context {
  readonly user: string;
}

const contextual = procedure.context<Context>();
const api = createRouter({
  double: contextual.query(z.number(), ({ input }) => input * 2),
  user: contextual.query(({ ctx }) => ctx.user),
  count: contextual.subscription(z.number(), async function* ({ input, ctx }) {
    for (let n = 1; n <= input; n++) yield `${ctx.user} ${n}`;
  }),
});

type Serve = (
  plugin: ReturnType<typeof rpcPlugin>,
) => (request: Request) => Response | Promise<Response>;

const servers: Record<string, Serve> = {
  "Deno.serve": (plugin) => (request) =>
    plugin.handle(request, { user: "ada" }) ??
      new Response("elsewhere", { status: 404 }),
  Hono: (plugin) => {
    const app = new Hono();
    app.use(async (c, next) =>
      await plugin.handle(c.req.raw, { user: "ada" }) ?? await next()
    );
    app.get("*", (c) => c.text("elsewhere", 404));
    return (request) => app.fetch(request);
  },
};

for (const [name, serve] of Object.entries(servers)) {
  Deno.test(`handle() serves calls and sockets in ${name}`, async () => {
    const plugin = rpcPlugin({ router: api, endpoint: "/rpc" });
    const server = Deno.serve({
      hostname: "127.0.0.1",
      port: 0,
      onListen() {},
    }, serve(plugin));
    const origin = `http://127.0.0.1:${server.addr.port}`;
    const rpc = createClient<typeof api>({ httpEndpoint: `${origin}/rpc` });

    assertEquals(await rpc.double.query(21), 42);
    assertEquals(await rpc.user.query(), "ada");
    const counted: string[] = [];
    for await (const value of rpc.count.subscribe(2)) counted.push(value);
    assertEquals(counted, ["ada 1", "ada 2"]);

    for (
      const [path, headers, status, text] of [
        ["/rpc/double?input=4", {}, 200, '{"ok":true,"data":8}'],
        ["/rpcs", {}, 404, "elsewhere"],
        ["/", {}, 404, "elsewhere"],
        [
          "/rpc",
          { connection: "upgrade", upgrade: "websocket", origin: "http://a.b" },
          403,
          '{"ok":false,"error":{"code":"FORBIDDEN","message":"Pages of other origins can\'t open sockets unless trustedOrigins of rpcPlugin() lists them"}}',
        ],
      ] as const
    ) {
      const request = new Request(origin + path, { headers });
      // `fetch` can't send all of these headers, so call the plugin.
      const response = "upgrade" in headers
        ? await plugin.handle(request, {})!
        : await fetch(request);
      assertEquals([response.status, await response.text()], [status, text]);
    }
    await plugin.close?.();
    await server.shutdown();
  });
}

Deno.test("handle() requires a Request, not another framework's context", () => {
  const plugin = rpcPlugin({ router: api });
  const request = new Request("http://localhost/api/rpc");
  for (const received of [{ req: { raw: request } }, request.url, undefined]) {
    assertThrows(
      () => plugin.handle(received as never),
      TypeError,
      "Cannot handle request: it must be a Request, received",
    );
  }
});
