import { assert, assertEquals, assertRejects, assertThrows } from "@std/assert";
import {
  createApp,
  currentContext,
  toHono,
  toMiddleware,
  UnavailableError,
  withPlugins,
} from "@quartet/kit/app";
import type { Route } from "@quartet/kit/app";
import {
  createAuthPlugin,
  createMemorySessionStore,
  getAuth,
  optionalAuth,
  requireAuth,
  requireRoles,
  withAuth,
} from "@quartet/kit/auth";
import type { SessionConfig, SessionStore } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
import { createClient, RPCClientError } from "@quartet/kit/rpc/client";
import { Hono } from "hono";
import { captureErrors } from "../helpers.ts";
import { byName, createClock, SECRET, startAuth } from "./harness.ts";

const URL_WITH_PASSWORD = "redis://app:hunter2@10.0.0.7:6379";

/** An application's store that fails on demand. */
class OwnStore implements SessionStore {
  readonly #inner: SessionStore;
  /** Called before each operation. */
  fault = () => {};

  constructor(now = Date.now) {
    this.#inner = createMemorySessionStore({ now });
  }

  get(id: string) {
    this.fault();
    return this.#inner.get(id);
  }
  async set(record: Parameters<SessionStore["set"]>[0]) {
    await Promise.resolve();
    this.fault();
    this.#inner.set(record);
  }
  async delete(id: string) {
    await Promise.resolve();
    this.fault();
    this.#inner.delete(id);
  }
  async deleteByUser(userId: string) {
    await Promise.resolve();
    this.fault();
    return this.#inner.deleteByUser(userId);
  }
  async listByUser(userId: string) {
    await Promise.resolve();
    this.fault();
    return this.#inner.listByUser(userId);
  }
}

const away = () => {
  throw new TypeError(`connect ECONNREFUSED ${URL_WITH_PASSWORD}`);
};

const ROUTES: Route[] = [
  { path: "/public", loader: () => "hello" },
  {
    path: "/optional",
    config: { ...optionalAuth() },
    loader: ({ context }) => getAuth(context).isAuthenticated(),
  },
  {
    path: "/account",
    config: { ...requireAuth({ redirect: "/sign-in" }) },
    loader: () => "secret",
  },
  {
    path: "/admin",
    config: { ...requireRoles(["admin"]) },
    loader: () => "secret",
  },
  { path: "/with-auth", loader: withAuth(() => "secret") },
];

async function startOutage(session: Partial<SessionConfig> = {}) {
  const clock = createClock();
  const store = new OwnStore(clock.now);
  const server = await startAuth({
    clock,
    session: { strategy: "hybrid", store, ...session },
  }, ROUTES);
  return { server, store };
}

async function assertUnavailable(response: Response): Promise<void> {
  assertEquals(response.status, 503);
  assertEquals(response.headers.get("retry-after"), "2");
  assertEquals(response.headers.getSetCookie(), []);
  assertEquals((await response.json()).error.code, "UNAVAILABLE");
}

Deno.test("During an outage, requests with a session get 503 and Retry-After, others are answered", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    using _log = captureErrors();
    const { server, store } = await startOutage({ strategy });
    await using _server = server;
    const browser = await server.signIn();
    const token = (await browser.json("/me")).token;
    store.fault = away;
    for (const path of ["/me", "/public", "/optional", "/account", "/admin"]) {
      await assertUnavailable(await browser.ask(path));
    }
    for (const path of ["/sign-out", "/refresh"]) {
      await assertUnavailable(
        await browser.ask(path, { method: "POST" }),
      );
    }
    const headers = { authorization: `Bearer ${token}` };
    await assertUnavailable(await fetch(`${server.origin}/me`, { headers }));

    const other = server.browser();
    assertEquals((await other.json("/me")).session, null);
    // A forged cookie causes no store call.
    const forged = await fetch(`${server.origin}/me`, {
      headers: { cookie: `app.session=forged` },
    });
    assertEquals((await forged.json()).session, null);
    await assertUnavailable(
      await other.ask("/sign-in", { body: { user: "bob" } }),
    );
    store.fault = () => {};
    assertEquals((await browser.json("/me")).user.id, "1");
    assertEquals(server.errors, []);
    const last = server.events.at(-1);
    assert(last?.type === "sign_in_failed" && last.code === "UNAVAILABLE");
  }
});

Deno.test("Each outage is logged once, without secrets in its errors", async () => {
  using log = captureErrors();
  const { server, store } = await startOutage();
  await using _server = server;
  const browser = await server.signIn();
  for (const outage of [1, 2]) {
    store.fault = away;
    for (let i = 0; i < 5; i++) await (await browser.ask("/me")).body?.cancel();
    assertEquals(log.lines.length, outage);
    store.fault = () => {};
    await browser.json("/me");
  }
  for (const line of log.lines) {
    assert(line.startsWith("Cannot reach session store: "), line);
    assert(!line.includes("hunter2") && !line.includes("app:"), line);
  }
  // A store that throws this error has already logged it.
  store.fault = () => {
    throw new UnavailableError("Cannot reach session store", { retryAfter: 9 });
  };
  const response = await browser.ask("/me");
  assertEquals([response.status, response.headers.get("retry-after")], [
    503,
    "9",
  ]);
  await response.body?.cancel();
  assertEquals(log.lines.length, 2);
});

Deno.test("With the fallback anonymous, public routes answer and guards still answer 503", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    using _log = captureErrors();
    const { server, store } = await startOutage({
      strategy,
      fallback: "anonymous",
    });
    await using _server = server;
    const browser = await server.signIn();
    store.fault = away;
    assertEquals(await browser.json("/public"), "hello");
    assertEquals(await browser.json("/optional"), false);
    const me = await browser.json("/me");
    assertEquals([me.session, me.user, me.token], [null, null, null]);
    assertEquals(browser.received, []);
    for (const path of ["/account", "/admin", "/with-auth"]) {
      await assertUnavailable(await browser.ask(path));
    }
    // Signing out, refreshing and signing in answer 503 with either setting.
    for (
      const [path, body] of [
        ["/sign-out", {}],
        ["/refresh", {}],
        ["/sign-in", { user: "bob" }],
      ] as const
    ) {
      await assertUnavailable(
        await browser.ask(path, { method: "POST", body }),
      );
    }
    const anonymous = await server.browser().ask("/account");
    assertEquals(anonymous.status, 303);
    await anonymous.body?.cancel();
    store.fault = () => {};
    assertEquals((await browser.json("/me")).user.id, "1");
    assertEquals(
      server.events.filter(({ type }) =>
        type === "access_denied" || type === "session_rejected"
      ).length,
      1,
    );
  }
});

/** Creates a plugin, and a request whose session can't be looked up. */
async function brokenAuth(fallback: "refuse" | "anonymous" = "refuse") {
  const store = new OwnStore();
  const auth = createAuthPlugin({
    session: { secret: SECRET, strategy: "hybrid", store, fallback },
    providers: [byName()],
  });
  const visit = await auth.authenticate(new Request("http://localhost/"));
  await visit.signIn("credentials", { user: "ada" });
  const cookie = visit.getCookieHeader()!.split(";")[0]!;
  const request = (path = "/") =>
    new Request(`http://localhost${path}`, { headers: { cookie } });
  return { auth, store, cookie, request };
}

Deno.test("During an outage, authenticate() rejects, or is anonymous with the fallback", async () => {
  using _log = captureErrors();
  for (const fallback of ["refuse", "anonymous"] as const) {
    const { auth, store, request } = await brokenAuth(fallback);
    // This caches the token, so the next call starts the look-up at once.
    assert((await auth.authenticate(request())).isAuthenticated());
    store.fault = away;
    if (fallback === "refuse") {
      const promise = auth.authenticate(request());
      assert(promise instanceof Promise);
      await assertRejects(() => promise, UnavailableError);
    } else {
      const visit = await auth.authenticate(request());
      assertEquals([visit.session, visit.getCookieHeaders()], [null, []]);
      await assertRejects(() => visit.signOut(), UnavailableError);
    }
    for (
      const call of [
        () => auth.listSessions("1"),
        () => auth.revokeSession("1"),
        () => auth.revokeSessions("1"),
      ]
    ) await assertRejects(call, UnavailableError);
  }
});

Deno.test("With Hono, withPlugins() and toMiddleware(), the auth middleware answers 503 too", async () => {
  using _log = captureErrors();
  const { auth, store, request } = await brokenAuth();
  store.fault = away;
  const app = new Hono();
  app.use(toHono(auth));
  app.get("/", (c) => c.text("never"));
  const never = () => new Response("never");
  for (
    const response of [
      await app.request(request()),
      await withPlugins([auth], never).fetch(request()),
      await toMiddleware(auth)(request(), undefined, never),
    ]
  ) await assertUnavailable(response);
});

Deno.test("An RPC client receives that the service is unavailable", async () => {
  using _log = captureErrors();
  const { auth, store, cookie } = await brokenAuth();
  store.fault = away;
  const router = createRouter({ ping: procedure.query(() => "pong") });
  const app = createApp({ plugins: [auth, rpcPlugin({ router })] });
  const rpc = createClient<typeof router>({
    httpEndpoint: "http://localhost/api/rpc",
    headers: { cookie },
    fetch: (url, init) => app.fetch(new Request(url, init)),
  });
  const error = await assertRejects(() => rpc.ping.query(), RPCClientError);
  assertEquals([error.code, error.status], ["UNAVAILABLE", 503]);
});

Deno.test("A WebSocket upgrade gets 503 during an outage, with any fallback", async () => {
  using _log = captureErrors();
  for (const fallback of ["refuse", "anonymous"] as const) {
    const { auth, store, request } = await brokenAuth(fallback);
    const router = createRouter({ ping: procedure.query(() => "pong") });
    const app = createApp({ plugins: [auth, rpcPlugin({ router })] });
    store.fault = away;
    const { headers } = request();
    headers.set("upgrade", "websocket");
    headers.set("connection", "upgrade");
    await assertUnavailable(
      await app.fetch(new Request("http://localhost/api/rpc", { headers })),
    );
    await app.close();
  }
});

Deno.test("A page whose session can't be looked up is neither cached nor served from the cache", async () => {
  using _log = captureErrors();
  for (const order of ["auth first", "cache first"]) {
    const { auth, store, request } = await brokenAuth("anonymous");
    const cache = createCache();
    const pages = cache.cacheResponse({ maxAge: 60 });
    let made = 0;
    const parts = order === "auth first" ? [auth, pages] : [pages, auth];
    const { fetch } = withPlugins(parts, ({ url }) => {
      made++;
      if (url.endsWith("/shared")) return new Response("for all");
      const { session } = getAuth(currentContext());
      return new Response(session?.userId ?? "nobody");
    });
    const anonymous = (path: string) => new Request(`http://localhost${path}`);
    const ask = async (request: Request) => {
      const response = await fetch(request);
      return [await response.text(), response.headers.get("cache-control")];
    };
    store.fault = away;
    assertEquals(await ask(request("/")), ["nobody", "private"]);
    store.fault = () => {};
    assertEquals(await ask(request("/")), ["1", "private"]);
    assertEquals(await ask(anonymous("/")), ["nobody", "private"]);
    assertEquals(made, 3);
    // A page that doesn't read the user is public.
    store.fault = away;
    for (const visitor of [anonymous, request, anonymous]) {
      assertEquals(await ask(visitor("/shared")), [
        "for all",
        "public, max-age=60",
      ]);
    }
    assertEquals(made, 4);
    await cache.close();
  }
});

Deno.test("A cached function can't read a user whose session can't be looked up", async () => {
  using _log = captureErrors();
  const { auth, store, request } = await brokenAuth("anonymous");
  const cache = createCache();
  const codes: string[] = [];
  const inner = createApp({
    plugins: [auth],
    routes: [{
      path: "/",
      loader: ({ context }) => getAuth(context).isAuthenticated(),
    }],
  });
  const compute = cache.unstable_cache(
    async (visitor: string) => {
      const asked = visitor === "ada"
        ? request()
        : new Request("http://localhost/");
      return await (await inner.fetch(asked)).text();
    },
    ["visitor"],
  );
  store.fault = away;
  for (const visitor of ["ada", "nobody"]) {
    await compute(visitor).catch(({ code }) => codes.push(code));
  }
  assertEquals(codes, ["PERSONAL"]);
  await cache.close();
});

Deno.test("A session that is too large is an application error, not an outage", async () => {
  using log = captureErrors();
  const auth = createAuthPlugin({
    session: { secret: SECRET, strategy: "cookie" },
    callbacks: {
      jwt: ({ token }) => ({ ...token, text: "x".repeat(20_000) }),
    },
    providers: [byName()],
  });
  const visit = await auth.authenticate(new Request("http://localhost/"));
  await assertRejects(
    () => visit.signIn("credentials", { user: "ada" }),
    TypeError,
    "Cannot keep session: its JSON must be at most 16384 characters long",
  );
  assertEquals(log.lines, []);
});

Deno.test("A store shared by several plugins is closed with the last of them", async () => {
  let closed = 0;
  const store = Object.assign(createMemorySessionStore(), {
    close: () => void closed++,
  });
  const make = () =>
    createAuthPlugin({
      session: { secret: SECRET, strategy: "hybrid", store },
    });
  const [first, second] = [make(), make()];
  await first.close();
  await first.close();
  assertEquals(closed, 0);
  await second.close();
  assertEquals(closed, 1);
});

Deno.test("session.fallback requires a strategy with a store", () => {
  const make = (session: Partial<SessionConfig>) => () =>
    createAuthPlugin({ session: { secret: SECRET, ...session } });
  assertThrows(
    make({ fallback: "anonymous" }),
    TypeError,
    'Cannot create auth plugin: session.fallback must be absent with the strategy "jwt", which asks no store',
  );
  assertThrows(
    make({ strategy: "cookie", fallback: "memory" as never }),
    TypeError,
    'Cannot create auth plugin: session.fallback must be one of "refuse", "anonymous", received "memory"',
  );
});
