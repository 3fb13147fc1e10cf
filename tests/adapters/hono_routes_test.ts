/** Hono's routes in traces, if the kit answers in place of the handler. */

import { assertEquals } from "@std/assert";
import { toHono } from "@quartet/kit/app";
import {
  createAuthPlugin,
  github,
  publicAction,
  requireAuth,
  requireRoles,
} from "@quartet/kit/auth";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import { Hono } from "hono";
import { onlyTrace, treeOf } from "../trace/fakes.ts";
import { createKit } from "./kit.ts";

Deno.test("A request that a guard refuses has its Hono route in the trace", async () => {
  const routeOf = async (
    path: string,
    mount: (app: Hono) => void,
    init?: RequestInit,
  ) => {
    using kit = createKit();
    const app = new Hono();
    app.use(toHono(kit.trace, kit.auth));
    mount(app);
    app.get("/*", (c) => c.notFound());
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      app.fetch,
    );
    const url = `http://127.0.0.1:${server.addr.port}${path}`;
    const response = await fetch(url, { redirect: "manual", ...init });
    await response.body?.cancel();
    await server.shutdown();
    const { metadata } = onlyTrace(kit.tracer);
    return [response.status, metadata.routePattern];
  };
  const guard = toHono(requireAuth());
  assertEquals(
    await routeOf("/b/7", (app) => {
      app.get("/b/:id", guard, (c) => c.text("x"));
    }),
    [401, "/b/:id"],
  );
  assertEquals(
    await routeOf("/b/7", (app) => {
      app.get("/b/:id", toHono(requireAuth({ redirect: "/in" })), (c) => {
        return c.text("x");
      });
    }),
    [303, "/b/:id"],
  );
  assertEquals(
    await routeOf(
      "/b/7",
      (app) => app.post("/b/:id", toHono(publicAction()), (c) => c.text("x")),
      { method: "POST", headers: { origin: "https://foreign.example" } },
    ),
    [403, "/b/:id"],
  );
  // A guard of several routes, and one of all methods.
  assertEquals(
    await routeOf("/admin/7", (app) => {
      app.use("/admin/*", toHono(requireRoles(["admin"])));
      app.get("/admin/:id", (c) => c.text("x"));
    }),
    [401, "/admin/:id"],
  );
  assertEquals(
    await routeOf("/any", (app) => {
      app.all("/any", guard, (c) => c.text("x"));
    }, { method: "DELETE" }),
    [401, "/any"],
  );
  assertEquals(
    await routeOf("/none", (app) => void app.use(guard), { method: "DELETE" }),
    [401, undefined],
  );
});

Deno.test("A guard in the same toHono() as tracing keeps the route in the trace", async () => {
  using kit = createKit();
  const app = new Hono();
  const parts = toHono(kit.trace, kit.auth, requireAuth());
  app.get("/b/:id", parts, (c) => c.text("x"));
  assertEquals((await app.request("/b/7")).status, 401);
  assertEquals(onlyTrace(kit.tracer).metadata.routePattern, "/b/:id");
});

Deno.test("The routes of a plugin add no span to requests for Hono's routes", async () => {
  const tracer = createTracer();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [github({ clientId: "a", clientSecret: "b" })],
    oauthRoutes: true,
  });
  const app = new Hono();
  app.use(toHono(tracePlugin(tracer), auth));
  app.get("/", (c) => c.text("home"));
  assertEquals(await (await app.request("/")).text(), "home");
  assertEquals(treeOf(onlyTrace(tracer)), "GET /(auth:session)");
  const away = await app.request("/auth/github");
  assertEquals(away.status, 303);
  const last = tracer.getTraces().at(-1)!;
  assertEquals(last.metadata.routePattern, "/auth/github");
  assertEquals(
    [...last.spans.values()].some(({ name }) => name === "route.match"),
    true,
  );
});
