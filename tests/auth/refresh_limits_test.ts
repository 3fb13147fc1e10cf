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
