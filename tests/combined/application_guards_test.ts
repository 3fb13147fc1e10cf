import { assertEquals } from "@std/assert";
import { createApp, createGuard } from "@quartet/kit/app";
import type { App, Route } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  getUser,
  requireAuth,
} from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";

const internal = createGuard({
  required: false,
  check: ({ headers }) =>
    headers.has("x-internal")
      ? undefined
      : new Response(null, { status: 303, headers: { location: "/door" } }),
});

function createAuth() {
  return createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [apiKey({ validate: (id) => ({ id }) })],
  });
}

/**
 * Creates an app with a page cache. The page shows how often it was rendered.
 */
function setUp(...routes: Route[]) {
  const cache = createCache();
  let made = 0;
  const app: App = createApp({ plugins: [createAuth()], routes });
  app.use(cache.cacheResponse({ maxAge: 60 }));
  app.route({ path: "/page", loader: () => ++made });
  const send = async (path: string, init?: RequestInit) => {
    const url = `http://localhost${path}`;
    const response = await app.fetch(new Request(url, init));
    return `${response.status} ${await response.text()}`;
  };
  return { app, cache, send };
}

const INTERNAL = { headers: { "x-internal": "1" } };

Deno.test("A page behind an application's guard reaches only users that the guard accepts", async () => {
  const { app, cache, send } = setUp();
  app.route({ path: "/", config: { ...internal }, loader: () => "in" });
  const response = await app.fetch(new Request("http://localhost/", INTERNAL));
  assertEquals(response.headers.get("cache-control"), "private");
  assertEquals(await response.text(), '"in"');
  assertEquals(await send("/"), "303 ");
  assertEquals(cache.stats().entries, 0);
});

Deno.test("An unsafe request that an application's guard redirects invalidates nothing", async () => {
  const { send } = setUp({
    path: "/page",
    config: { ...internal },
    action: () => "done",
  });
  assertEquals(await send("/page"), "200 1");
  assertEquals(await send("/page", { method: "POST" }), "303 ");
  assertEquals(await send("/page"), "200 1");
  const done = await send("/page", { method: "POST", ...INTERNAL });
  assertEquals(done, '200 "done"');
  assertEquals(await send("/page"), "200 2");
});

Deno.test("An unsafe request that continues after a refused inner request invalidates its page", async () => {
  const inner = createApp({ plugins: [createAuth()] });
  inner.route({
    path: "/audit",
    config: { ...requireAuth() },
    action: () => "noted",
  });
  const { send } = setUp({
    path: "/page",
    action: async () => {
      const audit = new Request("http://inner/audit", { method: "POST" });
      await (await inner.fetch(audit)).body?.cancel();
      return "done";
    },
  });
  assertEquals(await send("/page"), "200 1");
  assertEquals(await send("/page", { method: "POST" }), '200 "done"');
  assertEquals(await send("/page"), "200 2");
});

Deno.test("A refused unsafe request invalidates nothing, also if an outer host sees another URL", async () => {
  const mounted = createApp({ plugins: [createAuth()] });
  mounted.route({
    path: "/",
    config: { ...requireAuth({ redirect: "/sign-in" }) },
    action: () => "done",
  });
  const shell = createApp();
  shell.use(() =>
    mounted.fetch(new Request("http://localhost/", { method: "POST" }))
  );
  const { send } = setUp({
    path: "/page",
    action: ({ request }) => shell.fetch(request),
  });
  assertEquals(await send("/page"), "200 1");
  assertEquals(await send("/page", { method: "POST" }), "303 ");
  assertEquals(await send("/page"), "200 1");
});

Deno.test("A cached function may fetch an anonymous page behind an application's guard", async () => {
  const { app, cache, send } = setUp();
  app.route({ path: "/door", config: { ...internal }, loader: () => "in" });
  const text = () =>
    cache.cached("door", async () => {
      const request = new Request("http://localhost/door");
      return (await app.fetch(request)).status;
    }, { maxAge: 60 });
  app.route({ path: "/show", loader: () => text() });
  assertEquals(await send("/show"), "200 303");
});

Deno.test("A cached page that outer middleware makes personal is private", async () => {
  const cache = createCache();
  const app = createApp({ plugins: [createAuth()] });
  app.use(async (request, context, next) => {
    const response = await next();
    if (request.url.endsWith("/plain")) return response;
    const name = getUser(context)?.id ?? "nobody";
    return new Response(`${await response.text()} ${name}`, response);
  });
  app.use(cache.cacheResponse({ maxAge: 60 }));
  app.route({ path: "/*", handler: () => new Response("hello") });
  app.route({
    path: "/own",
    handler: () =>
      new Response("hello", { headers: { "cache-control": "max-age=5" } }),
  });
  const get = async (path: string) => {
    const headers = { "x-api-key": "ada" };
    const url = `http://localhost${path}`;
    const response = await app.fetch(new Request(url, { headers }));
    return [await response.text(), response.headers.get("cache-control")];
  };
  for (let round = 0; round < 2; round++) {
    assertEquals(await get("/"), ["hello ada", "private"]);
    assertEquals(await get("/plain"), ["hello", "public, max-age=60"]);
    assertEquals(await get("/own"), ["hello ada", "max-age=5"]);
  }
});
