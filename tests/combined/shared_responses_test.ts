import { assert, assertEquals } from "@std/assert";
import { createApp, createGuard, withPlugins } from "@quartet/kit/app";
import type { Context, Middleware, RouteArgs } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  getOAuthUrl,
  getUser,
  github,
  optionalAuth,
} from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createRouter, errors, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createTracer, tracePlugin } from "@quartet/kit/trace";

const trace = () => tracePlugin(createTracer(), { authorize: () => true });

/** Returns the parts of a response that name its trace. */
function traceOf({ headers }: Response): (string | null)[] {
  return [headers.get("x-app-trace-id"), headers.get("server-timing")];
}

Deno.test("A publicly cacheable response carries no trace id, others do", async () => {
  const app = createApp({ trace: trace() });
  const url = "http://localhost/";
  app.route({
    path: "/",
    handler: ({ headers }) => {
      const control = headers.get("x-control");
      return new Response("<p>", {
        headers: {
          "content-type": "text/html",
          ...(control === null ? {} : { "cache-control": control }),
          ...(headers.has("x-expires")
            ? { expires: "Sat, 01 Jan 2050 00:00:00 GMT" }
            : {}),
          ...(headers.has("x-cdn")
            ? { "cdn-cache-control": headers.get("x-cdn")! }
            : {}),
          ...(headers.has("x-name")
            ? { [headers.get("x-name")!]: headers.get("x-value")! }
            : {}),
        },
      });
    },
  });
  const get = (headers: HeadersInit) =>
    app.fetch(new Request(url, { headers }));
  for (
    const control of [
      "public",
      "max-age=60",
      "PUBLIC, max-age=60",
      "s-maxage=9",
      "public, no-cache",
    ]
  ) {
    const response = await get({ "x-control": control });
    assertEquals(traceOf(response), [null, null], control);
  }
  assertEquals(traceOf(await get({ "x-expires": "1" })), [null, null]);
  // CDNs prefer their own header.
  const forCDN = { "x-control": "private", "x-cdn": "max-age=60" };
  assertEquals(traceOf(await get(forCDN)), [null, null]);
  const forNobody = { ...forCDN, "x-cdn": "no-store" };
  assertEquals(typeof traceOf(await get(forNobody))[0], "string");
  // nginx and Akamai have formats of their own.
  for (
    const [name, value, isShared] of [
      ["x-accel-expires", "60", true],
      ["x-accel-expires", "0", false],
      ["edge-control", "max-age=60", true],
      ["edge-control", "!no-store, max-age=60", true],
      ["edge-control", "no-store", false],
    ] as const
  ) {
    const named = { "x-name": name, "x-value": value };
    const [id] = traceOf(await get({ "x-control": "private", ...named }));
    assertEquals(id === null, isShared, `${name}: ${value}`);
  }
  for (const control of ["private", "no-store", "private, max-age=60"]) {
    const [id, timing] = traceOf(await get({ "x-control": control }));
    assertEquals(typeof id, "string", control);
    assertEquals(timing!.includes(id!), true, control);
  }
  assertEquals(typeof traceOf(await get({}))[0], "string");
  await app.close();
});

for (const order of ["inside", "outside"]) {
  Deno.test(`A cached page carries no trace id, with tracing ${order} of the cache`, async () => {
    const cache = createCache();
    const pages = cache.cacheResponse({ maxAge: 60 });
    const inner = createApp(order === "inside" ? { trace: trace() } : {});
    if (order === "outside") inner.use(pages);
    inner.route({
      path: "/*",
      handler: () =>
        new Response("<p>", {
          headers: {
            "content-type": "text/html",
            "server-timing": "db;dur=1",
          },
        }),
    });
    const parts = order === "inside" ? [pages] : [trace()];
    const host = withPlugins(parts, (request) => inner.fetch(request));
    for (let i = 0; i < 3; i++) {
      const response = await host.fetch(new Request("http://localhost/"));
      assertEquals(traceOf(response), [null, "db;dur=1"]);
      assertEquals(await response.text(), "<p>");
    }
    assertEquals(cache.stats().misses, 1);
    await host.close();
    await inner.close();
  });
}

Deno.test("A response that depends on the user is private unless it says otherwise", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [
      apiKey({ validate: (id) => ({ id }) }),
      github({ clientId: "id", clientSecret: "secret" }),
    ],
  });
  const app = createApp({ plugins: [auth] });
  const ask =
    (headers: HeadersInit = {}) => (_request: Request, context: Context) => {
      getUser(context);
      return new Response("", { headers });
    };
  app.route({ path: "/asks", handler: ask() });
  app.route({ path: "/own", handler: ask({ "cache-control": "no-store" }) });
  app.route({ path: "/not", handler: () => new Response() });
  app.route({
    path: "/guarded",
    config: { ...optionalAuth() },
    handler: () => new Response(),
  });
  app.route({
    path: "/oauth",
    handler: (_request, context) => {
      getOAuthUrl(context, "github", "https://app.test/callback");
      return new Response();
    },
  });
  app.route({
    path: "/fixed",
    handler: (_request, context) => {
      getUser(context);
      return Response.redirect("http://localhost/", 301);
    },
  });
  const forCDN = { "cdn-cache-control": "max-age=60" };
  app.route({ path: "/cdn", handler: ask(forCDN) });
  app.route({
    path: "/stated-for-cdn",
    handler: ask({ ...forCDN, "cache-control": "max-age=0" }),
  });
  const ofCDN = "cdn-cache-control";
  const control = async (
    path: string,
    method = "GET",
    name = "cache-control",
  ) => {
    const url = `http://localhost${path}`;
    const response = await app.fetch(new Request(url, { method }));
    return response.headers.get(name);
  };
  assertEquals(await control("/asks"), "private");
  assertEquals(await control("/asks", "HEAD"), "private");
  assertEquals(await control("/own"), "no-store");
  assertEquals(await control("/not"), null);
  assertEquals(await control("/guarded"), "private");
  assertEquals(await control("/oauth"), "private");
  assertEquals(await control("/fixed"), "private");
  assertEquals(await control("/cdn"), "private");
  assertEquals(await control("/cdn", "GET", ofCDN), null);
  assertEquals(await control("/stated-for-cdn"), "max-age=0");
  assertEquals(await control("/stated-for-cdn", "GET", ofCDN), "max-age=60");
});

Deno.test("A loader's response that depends on the user is private, whatever headers a middleware adds", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const added = {
    "/plain": {},
    "/empty": {},
    "/cdn": { "cdn-cache-control": "max-age=60" },
    "/fastly": { "surrogate-control": "max-age=60" },
    "/stated": { "cache-control": "no-cache" },
  };
  for (const place of ["inside", "outermost", "inside, throws"]) {
    const app = createApp({ plugins: [auth] });
    for (const path of Object.keys(added)) {
      const loader = ({ context }: RouteArgs) => {
        getUser(context);
        return path === "/empty" ? undefined : { path };
      };
      app.route({ path, loader });
    }
    const addHeaders: Middleware = async ({ url }, _context, next) => {
      const response = await next();
      const headers = added[new URL(url).pathname as keyof typeof added];
      for (const [name, value] of Object.entries(headers)) {
        response.headers.set(name, value);
      }
      if (place === "inside, throws") throw response;
      return response;
    };
    app.use(
      Object.assign(addHeaders, { outermost: place === "outermost" }),
    );
    for (const path of Object.keys(added)) {
      const response = await app.fetch(new Request(`http://localhost${path}`));
      await response.body?.cancel();
      const { headers } = response;
      const expected = path === "/stated" ? "no-cache" : "private";
      assertEquals(headers.get("cache-control"), expected, `${place} ${path}`);
      assertEquals(headers.get("cdn-cache-control"), null, place);
      assertEquals(headers.get("surrogate-control"), null, place);
    }
  }
  await auth.close();
});

Deno.test("A personal response has no headers that let shared caches store it", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const added = {
    "cdn-cache-control": "public, max-age=60",
    "cloudflare-cdn-cache-control": "max-age=60",
    "surrogate-control": "max-age=60",
    "edge-control": "!no-store, max-age=60",
    "x-accel-expires": "60",
    "x-litespeed-cache-control": "public, max-age=60",
  };
  const ask = procedure.query(({ ctx }) => getUser(ctx as Context)?.id ?? null);
  const askForCDN = procedure.query(({ ctx, responseHeaders }) => {
    for (const each of Object.entries(added)) responseHeaders.set(...each);
    getUser(ctx as Context);
    throw errors.unauthorized();
  });
  const stated = ["private", "no-store", "private, max-age=60", undefined];
  const app = createApp({
    plugins: [auth, rpcPlugin({ router: createRouter({ ask, askForCDN }) })],
    routes: stated.map((control, i) => ({
      path: `/page/${i}`,
      handler: (_request: Request, context: Context) => {
        getUser(context);
        const headers: HeadersInit = control === undefined
          ? {}
          : { "cache-control": control };
        return new Response("page", { headers });
      },
    })),
  }).use(async (_request, _context, next) => {
    const response = await next();
    for (const each of Object.entries(added)) response.headers.set(...each);
    return response;
  }).route({ path: "/public", handler: () => new Response() });
  const get = async (path: string) => {
    const response = await app.fetch(new Request(`http://localhost${path}`));
    await response.body?.cancel();
    const { headers } = response;
    const names = Object.keys(added).filter((name) => headers.has(name));
    return [headers.get("cache-control"), ...names];
  };
  assertEquals(await get("/api/rpc?path=ask"), ["no-store"]);
  assertEquals(await get("/api/rpc/ask"), ["no-store"]);
  assertEquals(await get("/api/rpc?path=askForCDN"), ["no-store"]);
  for (const [i, control] of stated.entries()) {
    assertEquals(await get(`/page/${i}`), [control ?? "private"]);
  }
  assertEquals(await get("/public"), [null, ...Object.keys(added)]);
  await app.close();
});

Deno.test("A personal response keeps the headers that forbid shared caches to store it", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const kept = [
    ["cdn-cache-control", "no-store"],
    ["surrogate-control", "private"],
    ["edge-control", "no-store"],
    ["edge-control", "bypass-cache"],
    ["x-litespeed-cache-control", "no-cache"],
    ["x-litespeed-cache-control", "private,max-age=60"],
    ["x-accel-expires", "0"],
  ] as const;
  const app = createApp({
    plugins: [auth],
    routes: kept.map(([name, value], i) => ({
      path: `/${i}`,
      handler: (_request: Request, context: Context) => {
        getUser(context);
        return new Response("page", { headers: { [name]: value } });
      },
    })),
  });
  for (const [i, [name, value]] of kept.entries()) {
    const { headers } = await app.fetch(new Request(`http://localhost/${i}`));
    assertEquals(headers.get(name), value);
    assertEquals(headers.get("cache-control"), "private");
  }
  await app.close();
});

Deno.test("A response without a body that several requests get keeps no marks of one", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const typed = { "content-type": "text/plain" };
  const responses = [204, 303, 404, 500, 304, 201].flatMap((status) =>
    [{}, { "surrogate-control": "max-age=60" }].map((forCDN) =>
      new Response(null, {
        status,
        headers: {
          location: "/",
          "server-timing": "db;dur=1",
          ...forCDN,
          ...(status === 204 ? typed : {}),
        },
      })
    )
  );
  const before = responses.map(({ headers }) => [...headers]);
  const plugin = tracePlugin(createTracer(), {
    authorize: () => true,
    sample: ({ headers }) => headers.has("x-sampled"),
  });
  const app = createApp({ trace: plugin, plugins: [auth] });
  for (const [i, response] of responses.entries()) {
    const answer = (_request: Request, context: Context) => {
      if (context.url.search !== "") getUser(context);
      if (context.url.search === "?throw") throw response;
      return response;
    };
    app.route({ path: `/${i}`, handler: answer });
  }
  const get = async (path: string, headers: HeadersInit = {}) =>
    (await app.fetch(new Request(`http://localhost${path}`, { headers })))
      .headers;
  for (const [i, response] of responses.entries()) {
    const isForCDN = response.headers.has("surrogate-control");
    const ids = new Set<string>();
    for (const query of ["", "?user", "?throw"]) {
      const headers = await get(`/${i}${query}`, { "x-sampled": "1" });
      const id = headers.get("x-app-trace-id");
      if (id !== null) ids.add(id);
      const control = query === "" ? null : "private";
      assertEquals(headers.get("cache-control"), control);
      const isKept = isForCDN && query === "";
      assertEquals(headers.has("surrogate-control"), isKept);
    }
    assertEquals(ids.size, isForCDN ? 0 : 3);
    assertEquals([...await get(`/${i}`)], before[i]);
    assertEquals([...response.headers], before[i]);
  }
  await app.close();
});

Deno.test("A personal response keeps the header that forbids nginx to store it", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const app = createApp({ plugins: [auth] });
  app.route({
    path: "/",
    handler: (_request, context) => {
      getUser(context);
      return new Response("", { headers: { "x-accel-expires": "0" } });
    },
  });
  const { headers } = await app.fetch(new Request("http://localhost/"));
  assertEquals(headers.get("x-accel-expires"), "0");
  assertEquals(headers.get("cache-control"), "private");
  await app.close();
});

Deno.test("A page whose middleware reads the user isn't shared", async () => {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [apiKey({ validate: (id) => ({ id }) })],
  });
  const cache = createCache();
  const app = createApp({ plugins: [auth] });
  app.use((_request, context, next) => {
    context.set("name", getUser(context)?.id ?? "nobody");
    return next();
  });
  app.use(cache.cacheResponse({ maxAge: 60 }));
  const inner = createApp().use(cache.cacheResponse({ maxAge: 60 }));
  app.route({
    path: "/",
    handler: (_request, context) => new Response(context.get("name")),
  });
  app.route({
    path: "/inner",
    handler: (request, context) => {
      inner.use(() => new Response(context.get("name")));
      return inner.fetch(request);
    },
  });
  const get = async (path: string, key?: string) => {
    const headers: HeadersInit = key === undefined ? {} : { "x-api-key": key };
    const url = `http://localhost${path}`;
    return await (await app.fetch(new Request(url, { headers }))).text();
  };
  for (const path of ["/", "/inner"]) {
    assertEquals(await get(path, "ada"), "ada");
    if (path === "/") assertEquals(await get(path), "nobody");
  }
  assertEquals(cache.stats().entries, 0);
});

Deno.test("100,001 unsafe requests to other paths leave most pages in the cache", async () => {
  const cache = createCache();
  const app = createApp().use(cache.cacheResponse({ maxAge: 60 }));
  let made = 0;
  app.route({ path: "/page/:id", handler: () => new Response(`${++made}`) });
  app.route({ path: "/echo/:id", action: () => "done" });
  const send = async (path: string, method = "GET") => {
    const request = new Request(`http://localhost${path}`, { method });
    await (await app.fetch(request)).body?.cancel();
  };
  for (let i = 0; i < 100; i++) await send(`/page/${i}`);
  for (let i = 0; i < 100_001; i++) await send(`/echo/${i}`, "POST");
  for (let i = 0; i < 100; i++) await send(`/page/${i}`);
  // One in ten shares a bucket with a path that was forgotten.
  assert(made < 150, `${made - 100} of 100 pages were lost`);
});

Deno.test("An unsafe request that an application's rule refuses invalidates no page", async () => {
  const cache = createCache();
  const app = createApp().use(cache.cacheResponse({ maxAge: 60 }));
  const elsewhere = () => Response.redirect("http://localhost/sign-in", 303);
  let made = 0;
  const page = () => new Response(`${++made}`);
  const rules = {
    returned: { required: true, check: elsewhere },
    thrown: {
      required: true,
      check: () => {
        throw elsewhere();
      },
    },
    open: { required: false, check: () => undefined },
  };
  for (const [name, auth] of Object.entries(rules)) {
    app.route({ path: `/${name}`, handler: page });
    app.route({
      path: `/${name}`,
      method: "POST",
      config: { ...createGuard(auth) },
      handler: () => new Response("done"),
    });
  }
  const send = async (path: string, method = "GET") => {
    const url = `http://localhost/${path}`;
    const response = await app.fetch(new Request(url, { method }));
    return `${response.status} ${await response.text()}`;
  };
  assertEquals(await send("returned"), "200 1");
  assertEquals(await send("returned", "POST"), "303 ");
  assertEquals(await send("returned"), "200 1");
  assertEquals(await send("thrown"), "200 2");
  assertEquals(await send("thrown", "POST"), "303 ");
  assertEquals(await send("thrown"), "200 2");
  assertEquals(await send("open"), "200 3");
  assertEquals(await send("open", "POST"), "200 done");
  assertEquals(await send("open"), "200 4");
});

Deno.test("A page guarded by an application's rule is never served without it", async () => {
  const cache = createCache();
  const app = createApp({ onError: () => {} })
    .use(cache.cacheResponse({ maxAge: 60 }));
  const internal = createGuard({
    required: false,
    check: ({ headers }) =>
      headers.has("x-internal")
        ? undefined
        : new Response("no", { status: 403 }),
  });
  app.route({
    path: "/",
    config: { ...internal },
    handler: () => new Response("internal"),
  });
  app.route({
    path: "/summary",
    // A separate page, which is the same for all users.
    loader: () =>
      cache.cached("summary", async () => {
        const headers = { "x-internal": "1" };
        const request = new Request("http://localhost/", { headers });
        return await (await app.fetch(request)).text();
      }, { maxAge: 60 }),
  });
  const get = async (path: string, headers: HeadersInit = {}) => {
    const url = `http://localhost${path}`;
    return await (await app.fetch(new Request(url, { headers }))).text();
  };
  for (let i = 0; i < 2; i++) {
    assertEquals(await get("/", { "x-internal": "1" }), "internal");
    assertEquals(await get("/"), "no");
    assertEquals(await get("/summary"), '"internal"');
  }
});
