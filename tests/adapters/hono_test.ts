import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createApp, toHono, toNode, withPlugins } from "@quartet/kit/app";
import type { Mountable, Plugin } from "@quartet/kit/app";
import {
  AuthError,
  createAuthPlugin,
  getAuth,
  getUser,
  requireAuth,
} from "@quartet/kit/auth";
import { rpcPlugin } from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";
import type { TraceData } from "@quartet/kit/trace";
import { zValidator } from "@hono/zod-validator";
import { Hono } from "hono";
import { hc } from "hono/client";
import { cors } from "hono/cors";
import { HTTPException } from "hono/http-exception";
import { z } from "zod";
import { settle, timedCache } from "../data/helpers.ts";
import { captureErrors } from "../helpers.ts";
import { connect } from "../rpc/helpers.ts";
import { onlyTrace, rootOf, treeOf } from "../trace/fakes.ts";
import { createKit } from "./kit.ts";

const WRONG = () => {
  throw new AuthError("INVALID_CREDENTIALS", "Wrong password");
};

/** Runs `fn` and returns the errors logged meanwhile. */
async function logged(fn: () => Promise<void>): Promise<unknown[][]> {
  using captured = captureErrors();
  await fn();
  return captured.calls;
}

Deno.test("Hono's default error handler answers an AuthError and logs nothing", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.trace, kit.auth));
  app.get("/", WRONG);
  const lines = await logged(async () => {
    const response = await app.request("/");
    assertEquals(response.status, 401);
    assertEquals((await response.json()).error.code, "INVALID_CREDENTIALS");
  });
  assertEquals(lines, []);
  assertEquals(rootOf(onlyTrace(kit.tracer)).status, "ok");
});

Deno.test("Hono logs an error of a handler behind auth, and the response hides it", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.auth));
  app.get("/", () => {
    throw new TypeError("inside");
  });
  const lines = await logged(async () => {
    const response = await app.request("/");
    assertEquals(response.status, 500);
    assertEquals(await response.text(), "Internal Server Error");
  });
  assertEquals(lines.flat().map(String), ["TypeError: inside"]);
});

Deno.test("A Hono handler that returns nothing is a 500, and the log says why", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.trace, kit.auth));
  // As code without types would.
  app.get("/posts/:id", (() => {}) as never);
  const lines = await logged(async () => {
    const response = await app.request("/posts/1");
    assertEquals(response.status, 500);
  });
  assertEquals(
    lines.map(([error]) => (error as Error).message),
    [
      "Cannot answer GET /posts/1: a handler of Hono must return a Response, received undefined; a middleware of Hono must await next()",
    ],
  );
  assertEquals(
    rootOf(onlyTrace(kit.tracer)).attributes["http.route"],
    "/posts/:id",
  );
});

Deno.test("An AuthError keeps its 401 when the app's error handler returns a 500", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.auth));
  app.get("/", WRONG);
  app.onError((_error, c) => c.text("Sorry", 500));
  assertEquals((await app.request("/")).status, 401);
});

Deno.test("A response other than a 500 from the app's error handler is kept", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.trace, kit.auth));
  app.get("/", WRONG);
  app.get("/teapot", () => {
    throw new HTTPException(418, { message: "short" });
  });
  app.onError((error, c) =>
    error instanceof HTTPException
      ? error.getResponse()
      : c.text("Who are you?", 403)
  );
  const response = await app.request("/");
  assertEquals([response.status, await response.text()], [403, "Who are you?"]);
  assertEquals(await (await app.request("/teapot")).text(), "short");
  assertEquals(
    kit.tracer.getTraces().map((trace) => rootOf(trace).status),
    ["ok", "ok"],
  );
});

Deno.test("An error handler that throws the error again fails the request, as without the kit", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.trace));
  app.use(toHono(kit.auth));
  app.get("/", () => Promise.reject(new Error("gone")));
  app.get("/wrong", WRONG);
  app.use("/late", async (_c, next) => {
    await next();
    throw new Error("late");
  });
  app.get("/late", (c) => c.text("done"));
  app.onError((error) => {
    throw error;
  });
  for (const [path, message] of [["/", "gone"], ["/late", "late"]] as const) {
    await assertRejects(async () => await app.request(path), Error, message);
  }
  assertEquals(
    kit.tracer.getTraces().map((trace) => rootOf(trace).status),
    ["error", "error"],
  );
  assertEquals((await app.request("/wrong")).status, 401);
});

Deno.test("Hono's error handler answers an error thrown by a mounted plugin", async () => {
  const app = new Hono();
  const broken: Mountable = () => Promise.reject(new Error("inside"));
  const tracer = createTracer();
  app.use(toHono(tracePlugin(tracer)));
  app.use(toHono(broken));
  app.onError((error, c) => c.text(`Page of ${error.message}`, 503));
  const response = await app.request("/");
  assertEquals([response.status, await response.text()], [
    503,
    "Page of inside",
  ]);
  assert(response.headers.has("x-app-trace-id"));
  assertEquals(rootOf(onlyTrace(tracer)).events.length, 1);
});

Deno.test("A trace names the Hono route that answered", async () => {
  using kit = createKit();
  const posts = new Hono().get("/:id", (c) => c.text(c.req.param("id")));
  const app = new Hono();
  app.use(toHono(kit.trace));
  app.use("/api/*", toHono(kit.rpc));
  app.route("/posts", posts);
  app.get("/", (c) => c.text("home"));
  app.all("/any", (c) => c.text("any"));
  app.get("/files/*", (c) => c.text("file"));
  const routes = async (path: string) => {
    const response = await app.request(path);
    const id = response.headers.get("x-app-trace-id");
    const has = (trace: TraceData) => trace.id === id;
    return kit.tracer.getTraces().find(has)?.metadata.routePattern;
  };
  assertEquals(await routes("/"), "/");
  assertEquals(await routes("/any"), "/any");
  assertEquals(await routes("/files/a/b"), "/files/*");
  assertEquals(await routes("/posts/7"), "/posts/:id");
  assertEquals(await routes("/nowhere"), undefined);
  assertEquals(await routes("/api/rpc?path=cities"), "/api/rpc/cities");
});

Deno.test("A traced Hono app shows a catch-all route for one method, and no middleware", async () => {
  const routes = async (app: Hono, path: string) => {
    using kit = createKit();
    const outer = new Hono();
    outer.use(toHono(kit.trace));
    outer.route("/", app);
    await (await outer.request(path)).text();
    return onlyTrace(kit.tracer).metadata.routePattern;
  };
  const pages = new Hono().get("*", (c) => c.text("page"));
  assertEquals(await routes(pages, "/about"), "/*");
  assertEquals(await routes(pages, "/"), "/*");
  const empty = new Hono().use(cors());
  assertEquals(await routes(empty, "/"), undefined);
});

Deno.test("Headers set by outer middleware are added to plugins' responses, except upgrades", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(cors());
  const parts = toHono(kit.auth, kit.rpc);
  app.use(parts);
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    app.fetch,
  );
  const url = `http://127.0.0.1:${server.addr.port}/api/rpc`;
  const response = await fetch(`${url}?path=cities`);
  assertEquals(response.headers.get("access-control-allow-origin"), "*");
  assertEquals((await response.json()).data, ["Rome"]);
  const client = await connect({ url });
  await parts.close();
  assertEquals((await client.closed).code, 1001);
  await server.shutdown();
});

Deno.test("toHono() passes the 101 response of an upgrade to the server unchanged", async () => {
  let made: Response | undefined;
  let sent: Response | undefined;
  const app = new Hono();
  app.use(cors());
  app.use(toHono((request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    socket.onopen = () => socket.close();
    return made = response;
  }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request, info) => sent = await app.fetch(request, info),
  );
  const client = await connect({ url: `http://127.0.0.1:${server.addr.port}` });
  await client.closed;
  await server.shutdown();
  assert(made !== undefined && made === sent);
});

Deno.test("A mounted middleware can replace Hono's response and each of its headers", async () => {
  const app = new Hono();
  app.use(toHono(async (_request, _context, next) => {
    const { headers } = await next();
    return new Response("new", {
      headers: { "x-told": `${headers.get("x-told")} two` },
    });
  }));
  app.get("/", (c) => c.text("old", 200, { "x-told": "one", "x-old": "1" }));
  const response = await app.request("/");
  assertEquals(await response.text(), "new");
  assertEquals(response.headers.get("x-told"), "one two");
  assertEquals(response.headers.get("x-old"), null);
});

Deno.test("A response thrown by a middleware or a handler is sent", async () => {
  const app = new Hono();
  app.use(cors());
  const refuse = (): never => {
    throw new Response("refused", { status: 403 });
  };
  app.get("/inner", toHono(refuse));
  app.get("/outer", toHono(Object.assign(() => refuse(), { outermost: true })));
  app.get("/handler", toHono(), refuse);
  for (const path of ["/inner", "/outer", "/handler"]) {
    const response = await app.request(path);
    assertEquals([response.status, await response.text()], [403, "refused"]);
    assertEquals(response.headers.get("access-control-allow-origin"), "*");
  }
});

Deno.test("cacheResponse() caches Hono's pages and refreshes stale ones", async () => {
  const { cache, pass, errors } = timedCache();
  const app = new Hono();
  app.use(toHono(
    cache.cacheResponse({ maxAge: 10, staleWhileRevalidate: 10 }),
  ));
  let version = 0;
  app.get("/", async (c) => {
    await settle();
    return c.text(String(++version));
  });
  const get = async () => await (await app.request("/")).text();
  assertEquals([await get(), await get()], ["1", "1"]);
  pass(10);
  assertEquals(await get(), "1", "stale page");
  assertEquals(version, 2);
  let page = "1";
  while (page === "1" && version === 2) {
    // The request in the background ends before its page is in the cache.
    await new Promise((resolve) => setTimeout(resolve));
    page = await get();
  }
  assertEquals([page, await get(), version], ["2", "2", 2]);
  assertEquals(errors, []);
});

Deno.test("A plugin's routes, setup and close work on Hono as in createApp()", async () => {
  const log: string[] = [];
  const plugin: Plugin = {
    name: "health",
    routes: [{ path: "/health", handler: () => new Response("fine") }],
    async setup(app) {
      await Promise.resolve();
      log.push("setup");
      app.route({ path: "/late", handler: () => new Response("late") });
    },
    close: () => void log.push("close"),
  };
  const app = new Hono();
  const parts = toHono(plugin);
  app.use(parts);
  app.get("/", (c) => c.text("Hono"));
  app.post("/health", (c) => c.text("posted"));
  const text = async (path: string, method = "GET") =>
    await (await app.request(path, { method })).text();
  assertEquals(
    await Promise.all([text("/"), text("/health"), text("/late")]),
    ["Hono", "fine", "late"],
  );
  assertEquals(await text("/health", "POST"), "posted");
  await parts.close();
  await parts.close();
  assertEquals(log, ["setup", "close"]);
});

Deno.test("Hono's variables are readable through the kit's context", async () => {
  using kit = createKit();
  const app = new Hono<{ Variables: { tenant: string } }>();
  app.use(toHono(kit.auth));
  app.use(async (c, next) => {
    c.set("tenant", "acme");
    await next();
  });
  app.use(toHono((_request, context) => {
    const { isAuthenticated } = getAuth(context);
    return Response.json([context.get("tenant"), typeof isAuthenticated]);
  }));
  const response = await app.request("/");
  assertEquals(await response.json(), ["acme", "function"]);
});

Deno.test("Hono within a traced app joins its trace", async () => {
  using kit = createKit();
  const app = new Hono();
  app.use(toHono(kit.auth));
  app.get("/", (c) => c.text("hello"));
  const outer = createApp({ trace: kit.trace });
  outer.use(async (request) => await app.fetch(request));
  await (await outer.fetch(new Request("http://localhost/"))).text();
  assertEquals(treeOf(onlyTrace(kit.tracer)), "GET /(auth:session)");

  const wrapped = withPlugins([kit.trace], app.fetch);
  await (await wrapped.fetch(new Request("http://localhost/"))).text();
  assertEquals(
    kit.tracer.getTraces().map((trace) => treeOf(trace)),
    ["GET /(auth:session)", "GET /(auth:session)"],
  );
});

Deno.test("toHono(requireAuth()) before a handler keeps its typed response", async () => {
  using kit = createKit();
  const app = new Hono()
    .use(toHono(kit.auth))
    .get("/n", toHono(requireAuth()), (c) => c.json({ n: 1 }))
    .get("/m", (c) => c.json({ m: getAuth(c).isAuthenticated() }));
  const client = hc<typeof app>("http://localhost", { fetch: app.request });
  const { m } = await (await client.m.$get()).json();
  const isKnown: boolean = m;
  assertEquals(isKnown, false);
  assertEquals((await client.n.$get()).status, 401);
});

Deno.test("toHono() between a validator and a handler keeps the types of both", async () => {
  using kit = createKit();
  interface Env {
    Variables: { tenant: string };
    Bindings: { remoteAddr: Deno.NetAddr };
  }
  const open = toHono((_request, _context, next) => next());
  const app = new Hono<Env>()
    .use(toHono(kit.auth), async (c, next) => {
      c.set("tenant", "acme");
      await next();
    })
    .post(
      "/:id",
      zValidator("json", z.object({ count: z.number() })),
      open,
      (c) => {
        const { count } = c.req.valid("json");
        const id: string = c.req.param("id");
        const tenant: string = c.get("tenant");
        return c.json({ id, tenant, total: count + 1, user: getUser(c) });
      },
    );
  const response = await app.request("/7", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ count: 1 }),
  });
  assertEquals(await response.json(), {
    id: "7",
    tenant: "acme",
    total: 2,
    user: null,
  });
});

Deno.test("toHono() and toNode() answer HEAD with a clone whose original is kept", async () => {
  const kept = new Response(new Blob(["hello"]).stream());
  const app = new Hono();
  app.use(toHono());
  app.get("/", () => kept.clone());
  for (
    const [name, head] of Object.entries({
      toHono: app.request("/", { method: "HEAD" }),
      toNode: toNode({ fetch: () => kept.clone() }).fetch(
        new Request("http://localhost/", { method: "HEAD" }),
        { incoming: {} },
      ),
    })
  ) {
    const response = await head;
    assertEquals([response.status, response.body], [200, null], name);
  }
  assertEquals(await kept.text(), "hello");
});

Deno.test("toHono() rejects an invalid part and names its position", () => {
  for (const part of [undefined, null, {}, "auth", { auth: true }]) {
    assertThrows(
      () => toHono(() => new Response(), part as never),
      TypeError,
      "Cannot mount part 2: it must be a plugin such as tracePlugin(tracer), a middleware, or a guard such as requireAuth(), received",
    );
  }
});

Deno.test("toHono() reports a function that must be called", () => {
  for (const part of [requireAuth, createAuthPlugin, rpcPlugin, tracePlugin]) {
    assertThrows(
      () => toHono(part as never),
      TypeError,
      `Cannot mount part 1: received the function ${part.name}; call it: ${part.name}()`,
    );
  }
});

Deno.test("Hono accepts the status of an AuthError", async () => {
  const app = new Hono();
  app.get("/", (c) => {
    const { message, status } = new AuthError("RATE_LIMITED", "Too many");
    return c.html(`<p>${message}</p>`, status);
  });
  assertEquals((await app.request("/")).status, 429);
});
