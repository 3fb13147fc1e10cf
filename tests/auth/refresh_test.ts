/**
 * Refreshing sessions: when and for how long, and which requests do it. A
 * refresh doesn't revive an ended session.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import {
  createAuthPlugin,
  createMemorySessionStore,
  credentials,
  getAuth,
} from "@quartet/kit/auth";
import type { SessionConfig, SessionStore } from "@quartet/kit/auth";
import { captureErrors } from "../helpers.ts";
import type { Browser } from "./browser.ts";
import {
  claimsOf,
  createClock,
  SECRET,
  startAuth,
  STRATEGIES,
} from "./harness.ts";
import type { Me } from "./harness.ts";

const COOKIE = "app.session";
const DAY = 24 * 60 * 60;
const STORED = ["cookie", "hybrid"] as const;

const valueOf = ({ cookies }: Browser) => cookies.get(COOKIE)?.value;

async function send(browser: Browser, path: string): Promise<Response> {
  const response = await browser.ask(path, { method: "POST" });
  await response.body?.cancel();
  return response;
}

/** Wraps a store to hide `touch()`, so it can't replace a record atomically. */
function withoutTouch(store: SessionStore): SessionStore {
  return {
    get: (id) => store.get(id),
    set: (record) => store.set(record),
    delete: (id) => store.delete(id),
    deleteByUser: (userId) => store.deleteByUser(userId),
    listByUser: (userId) => store.listByUser(userId),
  };
}

Deno.test("The first request after updateAge refreshes the session; the default is a day or half of maxAge", async () => {
  const settings: [Partial<SessionConfig>, number][] = [
    [{}, DAY],
    [{ maxAge: DAY }, DAY / 2],
    [{ updateAge: 60 }, 60],
  ];
  for (const strategy of STRATEGIES) {
    for (const [session, age] of settings) {
      await using server = await startAuth({
        session: { strategy, ...session },
      });
      const { maxAge = 604800 } = session;
      const browser = await server.signIn();
      const begin = server.clock.now();
      const first: Me = await browser.json("/me");

      server.clock.pass(age);
      await browser.json("/me");
      assertEquals(browser.received, [], "not older than that");

      server.clock.pass(1);
      await browser.json("/me");
      assertEquals(browser.received.length, 1);
      const { attributes } = browser.cookies.get(COOKIE)!;
      assertEquals(attributes["max-age"], String(maxAge));
      await browser.json("/me");
      assertEquals(browser.received, [], "the refresh made it new again");

      const { session: renewed, token }: Me = await browser.json("/me");
      assertEquals(renewed, {
        ...first.session,
        issuedAt: new Date(begin + (age + 1) * 1000).toISOString(),
        expiresAt: new Date(begin + (age + 1 + maxAge) * 1000).toISOString(),
      });
      assertEquals(claimsOf(token!)["auth_time"], begin / 1000);
      if (strategy !== "jwt") {
        const [info] = await server.plugin.listSessions("1");
        assertEquals(info!.createdAt.getTime(), begin);
        assertEquals(info!.refreshedAt.getTime(), server.clock.now());
        assertEquals(
          info!.expiresAt.toISOString(),
          renewed!["expiresAt"],
          "the store keeps it equally long",
        );
      }
      // After the end of the original lifetime.
      server.clock.pass(maxAge - 1);
      assertEquals((await browser.json("/me")).user.id, "1");
    }
  }
});

Deno.test("refreshSession() returns the session, refreshed if due, or null when signed out", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
    });
    assertEquals(
      await server.browser().json("/refresh", { method: "POST" }),
      null,
    );
    const browser = await server.signIn();
    const before: Me = await browser.json("/me");
    const same = await browser.json("/refresh", { method: "POST" });
    assertEquals(same, before.session);
    assertEquals(browser.received, []);
    server.clock.pass(61);
    const renewed = await browser.json("/refresh", { method: "POST" });
    assertEquals(
      Date.parse(renewed.expiresAt) - Date.parse(same.expiresAt),
      61_000,
    );
    assertEquals(renewed.sessionId, same.sessionId);
    assertEquals(browser.received.length, 1);
  }
});

Deno.test("Only refreshSession() refreshes a bearer token, without a cookie", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
    }, [{
      path: "/token",
      async action({ context }) {
        const auth = getAuth(context);
        await auth.refreshSession();
        return await auth.getToken();
      },
    }]);
    const { token }: Me = await (await server.signIn()).json("/me");
    const ask = async (path: string, bearer: string, method = "GET") => {
      const headers = { authorization: `Bearer ${bearer}` };
      const url = `${server.origin}${path}`;
      const response = await fetch(url, { method, headers });
      assertEquals(response.headers.getSetCookie(), []);
      return await response.json();
    };
    server.clock.pass(61);
    assertEquals((await ask("/me", token!)).token.length, token!.length);
    const renewed = await ask("/token", token!, "POST");
    assertNotEquals(renewed, token);
    assertEquals(claimsOf(renewed)["iat"], server.clock.seconds);
    assertEquals((await ask("/me", renewed)).user.id, "1");
  }
});

Deno.test("A bearer token and a cookie of one session are refreshed independently", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
    }, [{
      path: "/token",
      async action({ context }) {
        const auth = getAuth(context);
        await auth.refreshSession();
        return await auth.getToken();
      },
    }]);
    const browser = await server.signIn();
    const { token }: Me = await browser.json("/me");
    server.clock.pass(61);
    const response = await fetch(`${server.origin}/token`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}` },
    });
    assertEquals(claimsOf(await response.json())["sub"], "1");
    await send(browser, "/refresh");
    // With a store, the cookie's request finds the session already refreshed.
    assertEquals(browser.received.length, strategy === "jwt" ? 1 : 0);
    assertEquals((await browser.json("/me")).user.id, "1");
  }
});

Deno.test("Only one of 50 parallel refreshes runs, and all share its result", async () => {
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    const store = createMemorySessionStore({ now: clock.now });
    let touched = 0;
    const { touch } = store;
    store.touch = (record) => {
      touched++;
      return touch.call(store, record);
    };
    let built = 0;
    await using server = await startAuth({
      clock,
      session: {
        strategy,
        updateAge: 60,
        ...(strategy === "jwt" ? {} : { store }),
      },
      callbacks: {
        jwt: ({ token }) => ({ ...token, built: ++built }),
      },
    });
    const browser = await server.signIn();
    const cookie = `${COOKIE}=${valueOf(browser)}`;
    clock.pass(61);
    const answers = await Promise.all(
      Array.from({ length: 50 }, async (_, i) => {
        const response = await fetch(
          `${server.origin}${i % 2 ? "/refresh" : "/me"}`,
          { method: i % 2 ? "POST" : "GET", headers: { cookie } },
        );
        await response.body?.cancel();
        assertEquals(response.status, 200);
        return response.headers.getSetCookie().join();
      }),
    );
    assertEquals(built, 2);
    assertEquals(touched, strategy === "jwt" ? 0 : 1);
    // Requests that start after the store was updated receive no cookie.
    const told = answers.filter((cookie) =>
      strategy === "jwt" || cookie !== ""
    );
    assertEquals(new Set(told).size, 1);
    assert(told[0]!.startsWith(COOKIE));
    assertEquals(
      server.events.filter(({ type }) => type === "session_refreshed").length,
      1,
    );
    // A late request with the old cookie joins them.
    const late = await fetch(`${server.origin}/me`, { headers: { cookie } });
    await late.body?.cancel();
    assertEquals(built, 2);
  }
});

Deno.test("A refresh runs once among a thousand others, and again if it failed", async () => {
  const clock = createClock();
  const hold = Promise.withResolvers<void>();
  const built = new Map<string, number>();
  const plugin = createAuthPlugin({
    now: clock.now,
    session: { secret: SECRET, updateAge: 60 },
    providers: [
      credentials({
        authorize: ({ user }) => Promise.resolve({ id: String(user) }),
      }),
    ],
    callbacks: {
      async jwt({ token }) {
        const times = (built.get(token.sub) ?? 0) + 1;
        built.set(token.sub, times);
        // Not at sign-in or the second time.
        if (token.sub === "unlucky" && times === 2) await hold.promise;
        return token;
      },
    },
  });
  const ask = (cookie?: string) =>
    plugin.authenticate(
      new Request("http://localhost/", cookie ? { headers: { cookie } } : {}),
    );
  const signIn = async (id: string) => {
    const auth = await ask();
    await auth.signIn("credentials", { user: id });
    return auth.getCookieHeader()!.split(";")[0]!;
  };
  const lucky = await signIn("lucky");
  const unlucky = await signIn("unlucky");
  const others: string[] = [];
  for (let i = 0; i < 1_000; i++) others.push(await signIn(`${i}`));
  clock.pass(61);

  const refresh = async (cookie: string) =>
    (await ask(cookie)).refreshSession();
  const failing = refresh(unlucky);
  await refresh(lucky);
  await Promise.all(others.map(refresh));
  hold.reject(new Error("The database is away"));
  await assertRejects(() => failing, Error, "The database is away");
  assertEquals((await refresh(unlucky))?.userId, "unlucky");
  assertEquals(built.get("unlucky"), 3);
  await refresh(lucky);
  assertEquals(built.get("lucky"), 2);
});

Deno.test("A refresh can't revive a session that is revoked meanwhile", async () => {
  for (const strategy of STORED) {
    for (const hasTouch of [true, false]) {
      const clock = createClock();
      const memory = createMemorySessionStore({ now: clock.now });
      const store = hasTouch ? memory : withoutTouch(memory);
      const entered = Promise.withResolvers<void>();
      const gate = Promise.withResolvers<void>();
      let isHeld = false;
      await using server = await startAuth({
        clock,
        session: { strategy, updateAge: 60, store },
        callbacks: {
          async jwt({ token }) {
            if (isHeld) {
              entered.resolve();
              await gate.promise;
            }
            return token;
          },
        },
      });
      const browser = await server.signIn();
      const before = valueOf(browser)!;
      clock.pass(61);
      isHeld = true;
      const refreshing = browser.json("/refresh", { method: "POST" });
      await entered.promise;
      assertEquals(await server.plugin.revokeSessions("1"), 1);
      gate.resolve();
      assertEquals(await refreshing, null);
      assertEquals(browser.cookies.size, 0, "the cookie is cleared");
      assertEquals(memory.size, 0);
      const cookie = `${COOKIE}=${before}`;
      const response = await fetch(`${server.origin}/me`, {
        headers: { cookie },
      });
      assertEquals((await response.json()).session, null);
    }
  }
});

Deno.test("A store without touch() refreshes sessions too", async () => {
  for (const strategy of STORED) {
    const clock = createClock();
    const store = withoutTouch(createMemorySessionStore({ now: clock.now }));
    await using server = await startAuth({
      clock,
      session: { strategy, updateAge: 60, maxAge: 100, store },
    });
    const browser = await server.signIn();
    clock.pass(61);
    await send(browser, "/refresh");
    clock.pass(61);
    const { user }: Me = await browser.json("/me");
    assertEquals(user?.id, "1");
  }
});

Deno.test("Parallel sign-outs and refreshes leave nobody signed in", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
    });
    for (let round = 0; round < 20; round++) {
      const browser = await server.signIn();
      const cookie = `${COOKIE}=${valueOf(browser)}`;
      server.clock.pass(61);
      const paths = ["/refresh", "/me", "/sign-out", "/me", "/refresh"];
      const cookies = await Promise.all(paths.map(async (path) => {
        const response = await fetch(`${server.origin}${path}`, {
          method: path === "/me" ? "GET" : "POST",
          headers: { cookie },
        });
        await response.body?.cancel();
        assert(response.ok);
        return response.headers.getSetCookie();
      }));
      for (const line of [cookie, ...cookies.flat()]) {
        const response = await fetch(`${server.origin}/me`, {
          headers: { cookie: line.split(";")[0]! },
        });
        assertEquals((await response.json()).session, null);
      }
    }
    assertEquals(await server.plugin.listSessions("1"), []);
    assertEquals(server.errors, []);
  }
});

Deno.test("1,000 parallel sign-ins create 1,000 separate sessions", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const names = ["ada", "bob", "eve"];
    const seen = await Promise.all(
      Array.from({ length: 1000 }, async (_, i) => {
        const auth = await server.plugin.authenticate(
          new Request("http://localhost/"),
        );
        await auth.signIn("credentials", { user: names[i % 3] });
        const [cookie] = auth.getCookieHeader()!.split(";");
        const again = await server.plugin.authenticate(
          new Request("http://localhost/", { headers: { cookie: cookie! } }),
        );
        return [again.session?.sessionId, again.session?.userId];
      }),
    );
    const alive = seen.filter(([id]) => id !== undefined);
    // The memory store keeps 100 sessions per user.
    if (strategy === "jwt") assertEquals(alive.length, 1000);
    assertEquals(new Set(alive.map(([id]) => id)).size, alive.length);
    for (const [i, [, userId]] of seen.entries()) {
      if (userId !== undefined) assertEquals(userId, String(i % 3 + 1));
    }
    if (strategy !== "jwt") {
      assertEquals((await server.plugin.listSessions("1")).length, 100);
    }
  }
});

Deno.test("Parallel requests of 100 browsers each have their own user", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const names = ["ada", "bob", "eve"];
    await Promise.all(Array.from({ length: 100 }, async (_, i) => {
      const browser = await server.signIn(names[i % 3]);
      for (let round = 0; round < 3; round++) {
        const { user }: Me = await browser.json("/me");
        assertEquals(user!.id, String(i % 3 + 1));
      }
    }));
  }
});

Deno.test("absoluteMaxAge ends a session, however often it was refreshed", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, maxAge: 100, updateAge: 10, absoluteMaxAge: 250 },
    });
    const browser = await server.signIn();
    const { token }: Me = await browser.json("/me");
    const terms: string[] = [];
    for (let age = 0; age < 240; age += 20) {
      server.clock.pass(20);
      const { user }: Me = await browser.json("/me");
      assertEquals(user!.id, "1", `${age}`);
      const { attributes } = browser.cookies.get(COOKIE)!;
      if (browser.received.length > 0) terms.push(`${attributes["max-age"]}`);
    }
    // From 160 s on, a refresh would reach the absolute end and gains nothing.
    assertEquals(terms, [
      "100",
      "100",
      "100",
      "100",
      "100",
      "100",
      "100",
      "90",
    ]);
    server.clock.pass(9);
    assertEquals((await browser.json("/me")).user.id, "1");
    const last = valueOf(browser);
    server.clock.pass(1);
    assertEquals((await browser.json("/me")).session, null);
    for (
      const headers of [
        { cookie: `${COOKIE}=${last}` },
        { authorization: `Bearer ${token}` },
      ]
    ) {
      const response = await fetch(`${server.origin}/me`, { headers });
      assertEquals((await response.json()).session, null);
    }
  }
});

Deno.test("absoluteMaxAge counts from sign-in, also for sessions created without it", async () => {
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    const store = createMemorySessionStore({ now: clock.now });
    const start = (absoluteMaxAge?: number) =>
      startAuth({
        clock,
        session: {
          strategy,
          updateAge: 10,
          ...(strategy === "jwt" ? {} : { store }),
          ...(absoluteMaxAge === undefined ? {} : { absoluteMaxAge }),
        },
      });
    await using before = await start();
    const browser = await before.signIn();
    clock.pass(11);
    const { token }: Me = await browser.json("/me");
    const shown = [
      { cookie: `${COOKIE}=${valueOf(browser)}` },
      { authorization: `Bearer ${token}` },
    ];
    await using after = await start(60);
    const known = async () =>
      await Promise.all(shown.map(async (headers) => {
        const response = await fetch(`${after.origin}/me`, { headers });
        return (await response.json()).isAuthenticated;
      }));
    clock.pass(48);
    assertEquals(await known(), [true, true]);
    clock.pass(1);
    assertEquals(await known(), [false, false]);
  }
});

Deno.test("A session whose refresh fails stays valid, and its request is answered", async () => {
  const clock = createClock();
  const store = createMemorySessionStore({ now: clock.now });
  await using server = await startAuth({
    clock,
    session: { strategy: "hybrid", store, updateAge: 60 },
  });
  const browser = await server.signIn();
  store.touch = () => {
    throw new Error("The store is read-only");
  };
  clock.pass(61);
  using captured = captureErrors();
  assertEquals((await browser.json("/me")).user.id, "1");
  assertEquals(browser.received, []);
  assertEquals(captured.calls.length, 1);
});

Deno.test("A publicly cacheable response carries no refreshed cookie, a personal one isn't cached", async () => {
  const answer = (control?: string) => () =>
    new Response("x", control ? { headers: { "cache-control": control } } : {});
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
    }, [
      { path: "/public", loader: answer("public, max-age=60") },
      { path: "/shared", loader: answer("max-age=1, s-maxage=60") },
      { path: "/plain", loader: answer() },
      { path: "/own", loader: answer("no-store") },
    ]);
    const browser = await server.signIn();
    const ask = async (path: string) => {
      server.clock.pass(61);
      const response = await browser.ask(path);
      await response.body?.cancel();
      return [browser.received.length, response.headers.get("cache-control")];
    };
    assertEquals(await ask("/public"), [0, "public, max-age=60"]);
    assertEquals(await ask("/shared"), [0, "max-age=1, s-maxage=60"]);
    assertEquals(await ask("/plain"), [1, "private"]);
    assertEquals(await ask("/own"), [1, "no-store"]);
  }
});
