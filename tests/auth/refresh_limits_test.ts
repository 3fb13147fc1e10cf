/** A refresh neither revives an ended session nor extends a limit. */

import { assert, assertEquals } from "@std/assert";
import {
  createMemorySessionStore,
  type SessionRecord,
  type SessionStore,
} from "@quartet/kit/auth";
import { SignJWT } from "jose";
import { type Browser, parseCookie } from "./browser.ts";
import {
  claimsOf,
  createClock,
  type Me,
  SECRET,
  startAuth,
  STRATEGIES,
} from "./harness.ts";

const DAY = 24 * 60 * 60;

/** Returns a request with a browser's cookies. */
function requestOf({ cookies }: Browser): Request {
  const cookie = Array.from(cookies, ([name, { value }]) => `${name}=${value}`);
  return new Request("http://localhost/", {
    headers: { cookie: cookie.join("; ") },
  });
}

/** Wraps a store to hide `touch()`. */
function withoutTouch({ touch: _, ...store }: SessionStore): SessionStore {
  return store;
}

Deno.test("A refresh that ends after signOut() signs nobody in", async () => {
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
    // The token exists, and the session callback is still running.
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

/** Touches like a store from before `refreshedAt` was compared. */
function withEagerTouch(store: SessionStore): SessionStore {
  return {
    ...store,
    async touch(record) {
      if (await store.get(record.id) === undefined) return false;
      await store.set(record);
      return true;
    },
  };
}

/**
 * Returns what requests see after a user was demoted during a refresh that
 * another process has overtaken.
 */
async function overtake(
  strategy: "cookie" | "hybrid",
  wrap: (store: SessionStore) => SessionStore,
  after: (store: SessionStore) => unknown = () => {},
) {
  const clock = createClock();
  const store = createMemorySessionStore({ now: clock.now });
  const gate = Promise.withResolvers<void>();
  const reading = Promise.withResolvers<void>();
  let isHeld = false;
  let roles = ["admin"];
  const start = (isSlow: boolean) =>
    startAuth({
      clock,
      session: { strategy, updateAge: 60, store: wrap(store) },
      callbacks: {
        async jwt({ token }) {
          const read = [...roles];
          if (isSlow && isHeld) {
            reading.resolve();
            await gate.promise;
          }
          return { ...token, roles: read };
        },
      },
    });
  await using slow = await start(true);
  await using quick = await start(false);
  const browser = await slow.signIn();
  const before = requestOf(browser);
  clock.pass(100);
  isHeld = true;
  const auth = await slow.plugin.authenticate(before);
  const late = auth.refreshSession();
  await reading.promise;
  roles = [];
  clock.pass(2);
  const other = await quick.plugin.authenticate(before);
  await other.refreshSession();
  clock.pass(2);
  await after(store);
  gate.resolve();
  const session = await late;
  const cookies = auth.getCookieHeaders().map((line) => line.split(";")[0]!);
  const seen = [];
  for (const cookie of [before.headers.get("cookie")!, ...cookies]) {
    const request = new Request("http://localhost/", { headers: { cookie } });
    for (const { plugin } of [slow, quick]) {
      const { session } = await plugin.authenticate(request);
      seen.push(session?.roles);
    }
  }
  const refreshed = [...slow.events, ...quick.events]
    .filter(({ type }) => type === "session_refreshed").length;
  return { session, seen, refreshed, token: await auth.getToken(), clock };
}

Deno.test("A slow refresh doesn't give back roles that a later one has taken away", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    for (const wrap of [(store: SessionStore) => store, withoutTouch]) {
      const { session, seen, refreshed, token, clock } = await overtake(
        strategy,
        wrap,
      );
      assertEquals(session?.roles, []);
      // The old cookie and the one of the slow refresh, on both.
      assertEquals(seen, [[], [], [], []]);
      assertEquals(refreshed, 1);
      // It has the lifetime of the later one.
      assertEquals(claimsOf(token!)["iat"], clock.seconds - 2);
    }
  }
});

Deno.test("A slow refresh ends if the session was revoked after a later refresh", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    for (const wrap of [(store: SessionStore) => store, withoutTouch]) {
      const { session, seen } = await overtake(
        strategy,
        wrap,
        (store) => store.deleteByUser("1"),
      );
      assertEquals(session, null);
      assertEquals(new Set(seen), new Set([undefined]));
    }
  }
});

Deno.test("A slow refresh ends if the later record is another user's", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    const { session, token } = await overtake(
      strategy,
      (store) => store,
      async (store) => {
        const [record] = await store.listByUser("1");
        const payload = { ...record!.payload, sub: "2", roles: ["admin"] };
        await store.set({ ...record!, userId: "2", payload });
      },
    );
    assertEquals([session, token], [null, null]);
  }
});

Deno.test("A store whose touch() ignores refreshedAt still refreshes", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    const { session } = await overtake(strategy, withEagerTouch);
    assertEquals(session?.roles, ["admin"]);
  }
});

Deno.test("absoluteMaxAge ends sessions whose tokens don't contain the sign-in time", async () => {
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

Deno.test("A client that loses the response of a refresh is refreshed again", async () => {
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
  assertEquals(browser.received.length, 0, "another request just refreshed it");
  server.clock.pass(60);
  await (await browser.ask("/me")).body?.cancel();
  assertEquals(browser.received.length, 1);
});

Deno.test("A refresh keeps the shorter lifetime that onSessionCreated set", async () => {
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

Deno.test("With a store that returns null, a refresh doesn't revive a revoked session", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    for (const isAsync of [false, true]) {
      const clock = createClock();
      const kept = createMemorySessionStore({ now: clock.now });
      const get = (id: string) => kept.get(id) ?? null;
      // It has no `touch()` either.
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
