import { assertEquals, assertRejects } from "@std/assert";
import { type App, createApp, currentContext } from "@quartet/kit/app";
import {
  apiKey,
  type AuthPlugin,
  createAuthPlugin,
  getAuth,
  getOAuthUrl,
  getUser,
  github,
  requireAuth,
} from "@quartet/kit/auth";
import { type Cache, CacheError, createCache } from "@quartet/kit/data";
import { createTracer, setActiveSpan, tracePlugin } from "@quartet/kit/trace";

const ADA = { headers: { "x-api-key": "ada" } };

function setUp(): { auth: AuthPlugin; cache: Cache; app: App } {
  const auth = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [
      apiKey({ validate: (id) => ({ id }) }),
      github({ clientId: "id", clientSecret: "secret" }),
    ],
  });
  return {
    auth,
    cache: createCache({ onError: () => {} }),
    app: createApp({ plugins: [auth], onError: () => {} }),
  };
}

/** Runs code in a request of the user ada. */
async function inRequest<T>(app: App, fn: () => T | Promise<T>): Promise<T> {
  const { promise, resolve } = Promise.withResolvers<Promise<T>>();
  app.route({
    path: "/",
    handler: async () => {
      const done = (async () => await fn())();
      await done.catch(() => {});
      resolve({ then: done.then.bind(done) } as Promise<T>);
      return new Response();
    },
  });
  const response = await app.fetch(new Request("http://localhost/", ADA));
  await response.text();
  return await promise;
}

const QUESTIONS: Readonly<
  Record<string, (auth: AuthPlugin) => unknown | Promise<unknown>>
> = {
  "getUser()": () => getUser(currentContext()),
  "session": () => getAuth(currentContext()).session,
  "isAuthenticated()": () => getAuth(currentContext()).isAuthenticated(),
  "hasRole()": () => getAuth(currentContext()).hasRole("admin"),
  "hasAnyRole()": () => getAuth(currentContext()).hasAnyRole(["admin"]),
  "hasAllRoles()": () => getAuth(currentContext()).hasAllRoles([]),
  "getToken()": () => getAuth(currentContext()).getToken(),
  "getCookieHeader()": () => getAuth(currentContext()).getCookieHeader(),
  "refreshSession()": () => getAuth(currentContext()).refreshSession(),
  "getOAuthUrl()": () => getOAuthUrl(currentContext(), "github", "https://a/b"),
  "authenticate()": (auth) => auth.authenticate(new Request("http://a/", ADA)),
  "a guard": (_auth) => {
    const context = currentContext();
    const request = new Request("http://localhost/", ADA);
    return requireAuth().auth.check(request, context as never);
  },
};

for (const [name, ask] of Object.entries(QUESTIONS)) {
  Deno.test(`${name} in a cached computation throws a CacheError`, async () => {
    const { auth, cache, app } = setUp();
    const load = cache.unstable_cache(
      async () => await ask(auth),
      ["load"],
      { revalidate: 60 },
    );
    const error = await inRequest(
      app,
      () => assertRejects(() => load(), CacheError),
    );
    assertEquals(error.code, "PERSONAL");
    assertEquals(error.message.includes("user's id as an argument"), true);
    assertEquals(cache.stats().entries, 0);
  });
}

Deno.test("cached() rejects a computation that reads the user, at any depth and maxAge", async () => {
  for (const maxAge of [60, false, 0] as const) {
    const { cache, app } = setUp();
    const user = () => getUser(currentContext())?.id;
    const inner = () => cache.cached("inner", user, { maxAge });
    await inRequest(app, async () => {
      const outer = () => cache.cached("outer", inner, { maxAge });
      await assertRejects(outer, CacheError, "user's id");
    });
    assertEquals(cache.stats().entries, 0);
  }
});

Deno.test("A cached function may take a user's id that was read before as an argument", async () => {
  const { cache, app } = setUp();
  const posts = cache.unstable_cache(
    (id: string) => Promise.resolve(`posts of ${id}`),
    ["posts"],
  );
  const found = await inRequest(
    app,
    () => posts(getUser(currentContext())!.id),
  );
  assertEquals(found, "posts of ada");
});

Deno.test("Reading the user in a cached function throws even if setActiveSpan() hides the span", async () => {
  const { cache, app } = setUp();
  const load = () =>
    cache.cached("k", () => {
      setActiveSpan(undefined);
      return getUser(currentContext())?.id;
    }, { maxAge: 60 });
  await inRequest(app, () => assertRejects(load, CacheError));
});

Deno.test("A cached function may fetch an anonymous page of the same app", async () => {
  const { auth, cache } = setUp();
  const app = createApp({
    plugins: [auth],
    trace: tracePlugin(createTracer(), { authorize: () => true }),
  });
  app.route({
    path: "/menu",
    handler: (_request, context) =>
      new Response(auth.getUser(context)?.id ?? "for all"),
  });
  const load = (init?: RequestInit) =>
    cache.cached(`menu ${init !== undefined}`, async () => {
      const url = "http://localhost/menu";
      const response = await app.fetch(new Request(url, init));
      return `${response.status} ${await response.text()}`;
    }, { maxAge: 60 });
  app.route({ path: "/", handler: async () => new Response(await load()) });
  const response = await app.fetch(new Request("http://localhost/", ADA));
  assertEquals(await response.text(), "200 for all");
  // The page that shows it didn't read the user.
  assertEquals(response.headers.get("cache-control"), null);
  await app.close();
});

Deno.test("A cached function that forwards the user's credentials fails", async () => {
  const { auth, cache } = setUp();
  const errors: unknown[] = [];
  const app = createApp({ plugins: [auth], onError: (e) => errors.push(e) });
  app.route({
    path: "/menu",
    handler: (_request, context) =>
      new Response(auth.getUser(context)?.id ?? "for all"),
  });
  const load = (request: Request) =>
    cache.cached("menu", async () => {
      const { headers } = request;
      const url = "http://localhost/menu";
      const response = await app.fetch(new Request(url, { headers }));
      if (!response.ok) throw new Error("no menu");
      return await response.text();
    }, { maxAge: 60 });
  app.route({
    path: "/",
    handler: async (request) => new Response(await load(request)),
  });
  const get = async (init?: RequestInit) => {
    const response = await app.fetch(new Request("http://localhost/", init));
    return `${response.status} ${(await response.text()).slice(0, 7)}`;
  };
  assertEquals((await get(ADA)).slice(0, 3), "500");
  assertEquals((errors[0] as CacheError).code, "PERSONAL");
  assertEquals(await get(), "200 for all");
});

Deno.test("Code that outlives its cached function may read the user", async () => {
  const { cache, app } = setUp();
  const { promise, resolve } = Promise.withResolvers<unknown>();
  const gate = Promise.withResolvers<void>();
  await inRequest(app, () =>
    cache.cached("k", () => {
      gate.promise.then(() => getUser(currentContext())?.id)
        .then(resolve, resolve);
      return "value";
    }, { maxAge: 60 }));
  gate.resolve();
  assertEquals(await promise, "ada");
});
