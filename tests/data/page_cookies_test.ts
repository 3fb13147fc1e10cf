import { assertEquals, assertThrows } from "@std/assert";
import { createApp } from "@quartet/kit/app";
import { createAuthPlugin, credentials, getAuth } from "@quartet/kit/auth";
import { type CacheResponseOptions, createCache } from "@quartet/kit/data";

/** Creates an app whose pages show a cart from a cookie unknown to the kit. */
function shop(options: Partial<CacheResponseOptions> = {}) {
  const cache = createCache();
  let made = 0;
  const app = createApp();
  app.use(cache.cacheResponse({ maxAge: 60, ...options }));
  app.route({
    path: "/*",
    handler: ({ headers }) => {
      const cart = /cart=(\w+)/.exec(headers.get("cookie") ?? "")?.[1];
      return new Response(`${cart ?? "no cart"} ${++made}`);
    },
  });
  const get = async (cookie?: string, init: RequestInit = {}) => {
    const headers: HeadersInit = cookie === undefined ? {} : { cookie };
    const request = new Request("http://localhost/", { headers, ...init });
    const response = await app.fetch(request);
    return await response.text();
  };
  return { cache, get };
}

Deno.test("cacheResponse() neither stores nor serves a page that a cookie may affect", async () => {
  const { cache, get } = shop();
  assertEquals(await get("cart=apples"), "apples 1");
  assertEquals(await get(), "no cart 2");
  assertEquals(await get("cart=pears"), "pears 3");
  assertEquals(await get("cart=apples"), "apples 4");
  assertEquals(await get(), "no cart 2");
  assertEquals(cache.stats().entries, 1);
  const head = { method: "HEAD" };
  assertEquals(await get(undefined, head), "");
});

Deno.test("cacheResponse() treats a cookie without a name as one that may affect the page", async () => {
  const { get } = shop();
  assertEquals(await get(), "no cart 1");
  for (const cookie of ["cart", "=cart=apples", "; cart =apples", "a=1;;b"]) {
    assertEquals((await get(cookie)).endsWith(" 1"), false, cookie);
  }
  assertEquals(await get(" ;; "), "no cart 1");
});

Deno.test("cacheResponse() caches no page if an auth cookie's value may contain another cookie", async () => {
  const cache = createCache();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
  });
  const app = createApp({ plugins: [auth] });
  app.use(cache.cacheResponse({ maxAge: 60 }));
  app.route({
    path: "/",
    handler: ({ headers }) =>
      new Response(/cart=(\w+)/.exec(headers.get("cookie") ?? "")?.[1]),
  });
  for (const value of ["x, cart=evil", '"x cart=evil"', "cart=evil"]) {
    const headers = { cookie: `app.session=${value}` };
    const request = new Request("http://localhost/", { headers });
    assertEquals(await (await app.fetch(request)).text(), "evil");
    assertEquals(cache.stats().entries, 0);
  }
});

Deno.test("cacheResponse() shares pages between requests whose cookies are in ignoreCookies", async () => {
  const { get } = shop({ ignoreCookies: ["theme", "_ga*"] });
  assertEquals(await get("theme=dark; _ga=1; _ga_X1=2"), "no cart 1");
  assertEquals(await get("_ga=3"), "no cart 1");
  assertEquals(await get("_g=3"), "no cart 2");
  assertEquals(await get("theme=dark; cart=apples"), "apples 3");
  assertEquals(await get("themes=dark"), "no cart 4");
  assertEquals(await get("THEME=dark"), "no cart 5");
  const all = shop({ ignoreCookies: ["*"] });
  assertEquals(await all.get("cart=apples"), "apples 1");
  assertEquals(await all.get("cart=pears"), "apples 1");
});

Deno.test("cacheResponse() rejects ignoreCookies that aren't cookie names", () => {
  const { cacheResponse } = createCache();
  for (const names of ["theme", [""], ["a b"], ["a;b"], ["*a"], [7], {}]) {
    const options = { maxAge: 60, ignoreCookies: names as string[] };
    assertThrows(
      () => cacheResponse(options),
      TypeError,
      "Cannot create response cache: ignoreCookies",
    );
  }
});

Deno.test("A page cached without auth isn't served to requests with a session", async () => {
  const cache = createCache();
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [credentials({ authorize: () => ({ id: "ada" }) })],
  });
  let made = 0;
  const withAuth = createApp({ plugins: [auth] });
  withAuth.route({ path: "/auth", handler: () => new Response(`${++made}`) });
  withAuth.route({
    path: "/sign-in",
    method: "POST",
    handler: async (_request, context) => {
      await getAuth(context).signIn("credentials", {});
      return new Response();
    },
  });
  const app = createApp().use(cache.cacheResponse({ maxAge: 60 }));
  // The page reads the session cookie directly, which auth can't notice.
  app.route({
    path: "/own",
    handler: ({ headers }) =>
      new Response(headers.has("cookie") ? "somebody" : "nobody"),
  });
  app.route({ path: "/*", method: "*", handler: (r) => withAuth.fetch(r) });
  const signedIn = await app.fetch(
    new Request("http://localhost/sign-in", { method: "POST" }),
  );
  const cookie = signedIn.headers.getSetCookie()[0]!.split(";")[0]!;
  const get = async (path: string, headers: HeadersInit = {}) => {
    const url = `http://localhost${path}`;
    return await (await app.fetch(new Request(url, { headers }))).text();
  };
  for (let round = 0; round < 3; round++) {
    assertEquals(await get("/own"), "nobody");
    assertEquals(await get("/own", { cookie }), "somebody");
    assertEquals(await get("/auth"), "1");
    assertEquals(await get("/auth", { cookie }), "1");
  }
});

Deno.test("A cached page answers a request with Authorization only if its Cache-Control allows it", async () => {
  const cache = createCache();
  const app = createApp().use(cache.cacheResponse({ maxAge: 60 }));
  let made = 0;
  app.route({ path: "/quiet", handler: () => new Response(`${++made}`) });
  app.route({
    path: "/public",
    handler: () =>
      new Response(`${++made}`, { headers: { "cache-control": "public" } }),
  });
  const get = async (path: string, headers: HeadersInit = {}) => {
    const url = `http://localhost${path}`;
    return await (await app.fetch(new Request(url, { headers }))).text();
  };
  const authorization = "Basic YWRhOmVuZ2luZQ==";
  assertEquals(await get("/quiet"), "1");
  assertEquals(await get("/quiet", { authorization }), "2");
  assertEquals(await get("/quiet"), "1");
  assertEquals(await get("/public"), "3");
  assertEquals(await get("/public", { authorization }), "3");
});

Deno.test("A page that may depend on a cookie is private, so CDNs don't share it", async () => {
  const app = createApp().use(createCache().cacheResponse({ maxAge: 60 }));
  app.route({
    path: "/",
    handler: ({ headers }) => new Response(headers.get("cookie") ?? "none"),
  });
  app.route({
    path: "/own",
    handler: () =>
      new Response("own", { headers: { "cache-control": "max-age=9" } }),
  });
  const control = async (path: string, cookie?: string, method = "GET") => {
    const url = `http://localhost${path}`;
    const headers: HeadersInit = cookie === undefined ? {} : { cookie };
    const response = await app.fetch(new Request(url, { headers, method }));
    await response.body?.cancel();
    return response.headers.get("cache-control");
  };
  for (let i = 0; i < 2; i++) {
    const both = [control("/", "cart=1"), control("/", "cart=2")];
    assertEquals(await Promise.all(both), ["private", "private"]);
    assertEquals(await control("/", "cart=1", "HEAD"), "private");
    assertEquals(await control("/"), "public, max-age=60");
    assertEquals(await control("/", "cart=1"), "private");
    assertEquals(await control("/own", "cart=1"), "max-age=9");
  }
  const headers = { cookie: "cart=1", range: "bytes=0-" };
  const response = await app.fetch(
    new Request("http://localhost/", { headers }),
  );
  assertEquals(response.headers.get("cache-control"), "private");
});
