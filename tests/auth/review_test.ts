/**
 * What a security review has found, each as it was done: a cookie, a session or
 * a right that came to somebody whom it was not for, or stayed with somebody.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { Context } from "@quartet/kit/app";
import type { Route } from "@quartet/kit/app";
import {
  createMemorySessionStore,
  credentials,
  getAuth,
  requireAuth,
} from "@quartet/kit/auth";
import type { SessionRecord, SessionStore } from "@quartet/kit/auth";
import { createCache } from "@quartet/kit/data";
import { SignJWT } from "jose";
import { parseCookie } from "./browser.ts";
import type { Browser } from "./browser.ts";
import {
  byKey,
  byName,
  createClock,
  SECRET,
  startAuth,
  STRATEGIES,
} from "./harness.ts";
import type { Me } from "./harness.ts";

const DAY = 24 * 60 * 60;

Deno.test("A response that a handler gives to everybody brings nobody's cookie along", async () => {
  const everybodys = new Response(null, { status: 204 });
  const routes: Route[] = [{ path: "/204", handler: () => everybodys }];
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, routes);
    const browser = await server.signIn();
    server.clock.pass(2 * DAY);
    await browser.ask("/204");
    assertEquals(browser.received.length, 1, "it was refreshed");
    const stranger = server.browser();
    await stranger.ask("/204");
    assertEquals(stranger.received, []);
    assertEquals(everybodys.headers.getSetCookie(), []);
  }
});

Deno.test("What sets a session's cookie is stored by no shared cache", async () => {
  const signIn = (headers: HeadersInit): Route["action"] => ({ context }) =>
    getAuth(context).signIn("credentials", { user: "ada" })
      .then(() => new Response("x", { headers }));
  const routes: Route[] = [
    ["/none", {}],
    ["/max-age", { "cache-control": "max-age=3600" }],
    ["/field", { "cache-control": 'private="x-name", max-age=3600' }],
    ["/cdn", { "cdn-cache-control": "max-age=60", "surrogate-control": "x" }],
    ["/no-store", { "cache-control": "no-store" }],
  ].map(([path, headers]) => ({
    path: path as string,
    action: signIn(headers as HeadersInit)!,
  }));
  await using server = await startAuth({}, routes);
  for (
    const [path, expected] of [
      ["/none", "private"],
      ["/max-age", "private, no-cache"],
      ["/field", "private, no-cache"],
      ["/cdn", "private"],
      ["/no-store", "no-store"],
    ] as const
  ) {
    const browser = server.browser();
    const { headers, body } = await browser.ask(path, { method: "POST" });
    await body?.cancel();
    assertEquals(browser.cookies.size, 1);
    assertEquals(headers.get("cache-control"), expected, path);
    assert(!headers.has("cdn-cache-control"));
    assert(!headers.has("surrogate-control"));
  }
});

Deno.test("A refresh leaves what shared caches may store alone", async () => {
  const routes: Route[] = [{
    path: "/shared",
    handler: () =>
      new Response("x", { headers: { "cache-control": "max-age=60" } }),
  }];
  await using server = await startAuth({}, routes);
  const browser = await server.signIn();
  server.clock.pass(2 * DAY);
  const response = await browser.ask("/shared");
  await response.body?.cancel();
  assertEquals(browser.received, []);
  assertEquals(response.headers.get("cache-control"), "max-age=60");
  await (await browser.ask("/me")).body?.cancel();
  assertEquals(browser.received.length, 1);
});

Deno.test("Signing out after a large sign-in takes back all of its cookies", async () => {
  const routes: Route[] = [{
    path: "/in-and-out",
    async action({ context }) {
      const auth = getAuth(context);
      await auth.signIn("large", {});
      await auth.signOut();
      return auth.getCookieHeaders();
    },
  }, {
    path: "/large-then-small",
    async action({ context }) {
      const auth = getAuth(context);
      await auth.signIn("large", {});
      await auth.signIn("credentials", { user: "ada" });
    },
  }];
  const large = credentials({
    id: "large",
    authorize: () => ({ id: "1", text: "x".repeat(5_000) }),
  });
  await using server = await startAuth(
    { providers: [byName(), large] },
    routes,
  );
  const browser = server.browser();
  const set: string[] = await browser.json("/in-and-out", { method: "POST" });
  for (const line of set) {
    assertEquals(parseCookie(line)[1].attributes["max-age"], "0", line);
  }
  assertEquals(browser.cookies.size, 0);
  await browser.ask("/large-then-small", { method: "POST" });
  assertEquals((await browser.json("/me")).session.name, "Ada");
});

Deno.test("Who signs out while the session is refreshed stays signed out", async () => {
  for (const strategy of STRATEGIES) {
    const gate = Promise.withResolvers<void>();
    const refreshing = Promise.withResolvers<void>();
    let isHeld = false;
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        session: async ({ session }) => {
          if (isHeld) {
            refreshing.resolve();
            await gate.promise;
          }
          return session;
        },
      },
    });
    const browser = await server.signIn();
    server.clock.pass(2 * DAY);
    const auth = await server.plugin.authenticate(requestOf(browser));
    isHeld = true;
    const refreshed = auth.refreshSession();
    // Its token is made; what handlers see of it is being built.
    await refreshing.promise;
    await auth.signOut();
    gate.resolve();
    assertEquals(await refreshed, null);
    assertEquals(auth.isAuthenticated(), false);
    for (const line of auth.getCookieHeaders()) {
      assertEquals(parseCookie(line)[1].attributes["max-age"], "0");
    }
  }
});

/** What a browser asks, for those who ask the plugin itself. */
function requestOf({ cookies }: Browser): Request {
  const cookie = Array.from(cookies, ([name, { value }]) => `${name}=${value}`);
  return new Request("http://localhost/", {
    headers: { cookie: cookie.join("; ") },
  });
}

Deno.test("A key in the address doesn't make another site's form welcome", async () => {
  await using server = await startAuth({ providers: [byKey()] }, [{
    path: "/change",
    config: { ...requireAuth() },
    action: () => "changed",
  }]);
  const post = async (path: string, headers: Record<string, string>) => {
    const browser = server.browser();
    const { status, body } = await browser.ask(path, {
      method: "POST",
      headers,
    });
    await body?.cancel();
    return status;
  };
  const evil = { origin: "https://evil.example" };
  assertEquals(await post("/change?key=k-815", evil), 403);
  assertEquals(await post("/change?key=k-815", {}), 200);
  assertEquals(await post("/change", { ...evil, "x-api-key": "k-815" }), 200);
});

Deno.test("What asks who it is for is kept by no page cache, wherever that is", async () => {
  for (const isOutside of [true, false]) {
    const cache = createCache();
    let made = 0;
    await using server = await startAuth({}, []);
    const { plugin } = server;
    const pages = cache.cacheResponse({ maxAge: 60 });
    const inner = (path: string, context: Context) => {
      if (path === "/private") plugin.getUser(context);
      made++;
      return Promise.resolve(new Response(path));
    };
    const ask = async (path: string) => {
      const request = new Request(`http://localhost${path}`);
      const context = new Context(request);
      const handle = () => inner(path, context);
      const response = isOutside
        ? await pages(
          request,
          context,
          async () => await plugin.middleware(request, context, handle),
        )
        : await plugin.middleware(
          request,
          context,
          async () => await pages(request, context, handle),
        );
      await response.text();
    };
    await ask("/private");
    await ask("/private");
    assertEquals(made, 2);
    await ask("/public");
    await ask("/public");
    assertEquals(made, 3);
    await cache.close();
  }
});

Deno.test("absoluteMaxAge ends sessions of tokens that don't say when they began", async () => {
  await using server = await startAuth({
    session: { maxAge: 100, updateAge: 10, absoluteMaxAge: 400 },
  });
  let token = await new SignJWT({ sid: "x" }).setSubject("1")
    .setProtectedHeader({ alg: "HS256" }).setIssuedAt(server.clock.seconds)
    .setExpirationTime(server.clock.seconds + 100)
    .sign(new TextEncoder().encode(SECRET));
  let lasted = 0;
  for (; lasted < 1_000; lasted += 50) {
    const auth = await server.plugin.authenticate(
      new Request("http://localhost/", {
        headers: { authorization: `Bearer ${token}` },
      }),
    );
    if (await auth.refreshSession() === null) break;
    token = (await auth.getToken())!;
    server.clock.pass(50);
  }
  assertEquals(lasted, 400);
});

Deno.test("Who loses the response of a refresh is refreshed again before the end", async () => {
  await using server = await startAuth({
    session: { strategy: "hybrid", maxAge: 3_600, updateAge: 1_800 },
  });
  const browser = await server.signIn();
  const before = new Map(browser.cookies);
  server.clock.pass(1_900);
  await (await browser.ask("/me")).body?.cancel();
  assertEquals(browser.received.length, 1);
  browser.cookies.clear();
  for (const [name, cookie] of before) browser.cookies.set(name, cookie);
  await (await browser.ask("/me")).body?.cancel();
  assertEquals(browser.received.length, 0, "another one just got it");
  server.clock.pass(60);
  await (await browser.ask("/me")).body?.cancel();
  assertEquals(browser.received.length, 1);
});

Deno.test("A session that was made shorter stays so when it is refreshed", async () => {
  await using server = await startAuth({
    session: { updateAge: 60 },
    callbacks: {
      onSessionCreated: (session) => ({
        ...session,
        expiresAt: new Date(session.issuedAt!.getTime() + 3_600_000),
      }),
    },
  });
  const browser = await server.signIn();
  server.clock.pass(1_800);
  const { session }: Me = await browser.json("/me");
  assertEquals(browser.received.length, 1);
  const again: Me = await browser.json("/me");
  assertEquals(
    Date.parse(again.session!["expiresAt"] as string) / 1000,
    server.clock.seconds + 3_600,
  );
  assertEquals(again.session!["userId"], session!["userId"]);
});

Deno.test("A store without types, which gives null, revives nothing", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    for (const isAsync of [false, true]) {
      const clock = createClock();
      const kept = createMemorySessionStore({ now: clock.now });
      const get = (id: string) => kept.get(id) ?? null;
      // It has no touch() either.
      const store = {
        get: isAsync ? (id: string) => Promise.resolve(get(id)) : get,
        set: (record: SessionRecord) => kept.set(record),
        delete: (id: string) => kept.delete(id),
        deleteByUser: (userId: string) => kept.deleteByUser(userId),
        listByUser: (userId: string) => kept.listByUser(userId),
      } as unknown as SessionStore;
      await using server = await startAuth({
        session: { strategy, store },
        clock,
      });
      const browser = await server.signIn();
      clock.pass(2 * DAY);
      const auth = await server.plugin.authenticate(requestOf(browser));
      assert(auth.isAuthenticated());
      await server.plugin.revokeSessions("1");
      assertEquals(await auth.refreshSession(), null);
      assertEquals(kept.size, 0);
      assertEquals((await browser.json("/me")).session, null);
      assertEquals(server.errors, []);
    }
  }
});

Deno.test("A sign-in that fails at its end leaves nothing in the store", async () => {
  const store = createMemorySessionStore();
  await using server = await startAuth({
    session: { strategy: "hybrid", store },
    callbacks: {
      session() {
        throw new Error("The database is away");
      },
    },
  });
  const browser = server.browser();
  const { status, body } = await browser.ask("/sign-in", {
    body: { user: "ada" },
  });
  await body?.cancel();
  assertEquals([status, browser.cookies.size, store.size], [500, 0, 0]);
  assertEquals(server.events.map(({ type }) => type), ["sign_in_failed"]);
});

Deno.test("A bearer token's old claims don't replace those of the store", async () => {
  let roles = ["admin"];
  await using server = await startAuth({
    session: { strategy: "cookie", updateAge: 10 },
    callbacks: { jwt: ({ token }) => ({ ...token, level: roles.length }) },
  });
  const browser = await server.signIn();
  const { token }: Me = await browser.json("/me");
  roles = ["admin", "root"];
  server.clock.pass(60);
  await (await browser.ask("/me")).body?.cancel();
  const bearer = await server.plugin.authenticate(
    new Request("http://localhost/", {
      headers: { authorization: `Bearer ${token}` },
    }),
  );
  assertEquals(bearer.session!.claims!["level"], 2);
});
