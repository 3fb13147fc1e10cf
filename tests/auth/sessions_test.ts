/**
 * The life of sessions: what ends and refreshes them, and that all strategies
 * behave the same.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertNotEquals,
  assertRejects,
} from "@std/assert";
import { apiKey, createMemorySessionStore, getAuth } from "@quartet/kit/auth";
import type { SessionRecord, SessionStore } from "@quartet/kit/auth";
import { captureErrors } from "../helpers.ts";
import type { Browser } from "./browser.ts";
import {
  byKey,
  byName,
  claimsOf,
  createClock,
  forge,
  KEY,
  sign,
  startAuth,
  STRATEGIES,
  USERS,
} from "./harness.ts";
import type { AuthServer, Me } from "./harness.ts";

const COOKIE = "app.session";
/** Strategies that keep sessions on the server. */
const STORED = ["cookie", "hybrid"] as const;

async function who(
  { origin, errors }: AuthServer,
  headers: Record<string, string>,
): Promise<string | undefined> {
  const response = await fetch(`${origin}/me`, { headers });
  assertEquals(response.status, 200);
  assertEquals(errors, []);
  const { user }: Me = await response.json();
  return user?.id;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const cookieOf = ({ cookies }: Browser) => ({
  cookie: `${COOKIE}=${cookies.get(COOKIE)!.value}`,
});

async function send(browser: Browser, path: string): Promise<void> {
  const response = await browser.ask(path, { method: "POST" });
  await response.body?.cancel();
  assert(response.ok, `${path}: ${response.status}`);
}

Deno.test("hybrid: a token without sid is anonymous, even with a valid signature", async () => {
  await using server = await startAuth({ session: { strategy: "hybrid" } });
  const { token }: Me = await (await server.signIn()).json("/me");
  const { sid, ...claims } = claimsOf(token!);
  assertEquals(await who(server, bearer(await forge({ ...claims, sid }))), "1");
  assertEquals(await who(server, bearer(await forge(claims))), undefined);
  for (const wrong of ["", "x", "A".repeat(43), null, 1, [sid], { sid }]) {
    const token = await forge({ ...claims, sid: wrong });
    assertEquals(await who(server, bearer(token)), undefined);
    assertEquals(
      await who(server, { cookie: `${COOKIE}=${token}` }),
      undefined,
    );
  }
});

Deno.test("A token of one user with the session id of another is anonymous", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({ session: { strategy } });
    const { token }: Me = await (await server.signIn("ada")).json("/me");
    await server.signIn("bob");
    const claims = claimsOf(token!);
    const as = async (sub: string) =>
      await who(server, bearer(await forge({ ...claims, sub })));
    assertEquals(await as("2"), undefined);
    assertEquals(await as("1"), "1");
  }
});

Deno.test("An inconsistent record from a store is rejected", async () => {
  for (const strategy of STORED) {
    const clock = createClock();
    const inner = createMemorySessionStore({ now: clock.now });
    let change = (record: SessionRecord): SessionRecord => record;
    const store: SessionStore = {
      get(id) {
        const record = inner.get(id);
        return record && change(record);
      },
      set: (record) => inner.set(record),
      delete: (id) => inner.delete(id),
      deleteByUser: (userId) => inner.deleteByUser(userId),
      listByUser: (userId) => inner.listByUser(userId),
    };
    await using server = await startAuth({
      clock,
      session: { strategy, store },
    });
    const cookie = cookieOf(await server.signIn());
    assertEquals(await who(server, cookie), "1");
    const claim =
      (name: string, value: unknown) => (record: SessionRecord) => ({
        ...record,
        payload: { ...record.payload, [name]: value },
      });
    const wrong: ((record: SessionRecord) => SessionRecord)[] = [
      (record) => ({ ...record, userId: "2" }),
      (record) => ({ ...record, expiresAt: clock.now() }),
      (record) => ({ ...record, expiresAt: 0 }),
      claim("sub", "2"),
      claim("sid", "another"),
    ];
    if (strategy === "cookie") {
      wrong.push(claim("exp", clock.seconds), claim("iat", clock.seconds + 1));
    }
    for (const wrongly of wrong) {
      change = wrongly;
      assertEquals(await who(server, cookie), undefined, `${wrongly}`);
    }
    change = (record) => record;
    assertEquals(await who(server, cookie), "1");
  }
});

Deno.test("A store that throws authenticates nobody", async () => {
  for (const strategy of STORED) {
    const clock = createClock();
    const store = createMemorySessionStore({ now: clock.now });
    await using server = await startAuth({
      clock,
      session: { strategy, store },
    });
    const browser = await server.signIn();
    const { get } = store;
    store.get = () => {
      throw new Error("The store is down");
    };
    using _captured = captureErrors();
    const response = await browser.ask("/me");
    assertEquals(response.status, 503);
    assert(!(await response.text()).includes("store"));
    store.get = get;
    // It doesn't sign anybody out either.
    assertEquals((await browser.json("/me")).user.id, "1");
  }
});

Deno.test("onSessionValidate runs for each request, in all strategies, with cookies and tokens", async () => {
  for (const strategy of STRATEGIES) {
    const asked: string[] = [];
    let isValid = true;
    await using server = await startAuth({
      session: { strategy },
      providers: [
        byName(),
        apiKey({ validate: () => Promise.resolve(USERS["bob"]!) }),
      ],
      callbacks: {
        onSessionValidate({ userId }) {
          asked.push(userId);
          return isValid;
        },
      },
    });
    const browser = await server.signIn();
    const { token }: Me = await browser.json("/me");
    const shown = [cookieOf(browser), bearer(token!), { "x-api-key": "k" }];
    for (const headers of shown) {
      assert(await who(server, headers) !== undefined);
    }
    assertEquals(asked, ["1", "1", "1", "2"]);
    isValid = false;
    for (const headers of shown) {
      assertEquals(await who(server, headers), undefined);
    }
    assertEquals(asked.length, 7);
    // The cookie is invalid and is cleared.
    await send(browser, "/refresh");
    assertEquals(browser.cookies.size, 0);
    isValid = true;
    for (const headers of shown) {
      assert(await who(server, headers) !== undefined);
    }
  }
});

Deno.test("A session ends at maxAge in all strategies, and its cookie is cleared", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, maxAge: 60, updateAge: 60 },
    });
    const browser = await server.signIn();
    assertEquals(browser.cookies.get(COOKIE)!.attributes["max-age"], "60");
    const { token }: Me = await browser.json("/me");
    server.clock.pass(59);
    assertEquals(await who(server, cookieOf(browser)), "1");
    assertEquals(await who(server, bearer(token!)), "1");
    server.clock.pass(1);
    assertEquals(await who(server, cookieOf(browser)), undefined);
    assertEquals(await who(server, bearer(token!)), undefined);
    assertEquals((await browser.json("/me")).isAuthenticated, false);
    assertEquals(browser.cookies.size, 0);
  }
});

Deno.test("A bearer token takes precedence: an invalid one is anonymous despite a valid cookie", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const cookie = cookieOf(await server.signIn("ada"));
    const { token }: Me = await (await server.signIn("bob")).json("/me");
    assertEquals(await who(server, cookie), "1");
    assertEquals(await who(server, { ...cookie, ...bearer(token!) }), "2");
    for (
      const authorization of [
        "Bearer",
        "Bearer ",
        "Bearer x",
        "bearer x",
        "BEARER x",
        `Bearer ${token}x`,
        `Bearer ${token} ${token}`,
        `Bearer ${token}, Bearer ${token}`,
        `Bearer "${token}"`,
        `Bearer ${cookie.cookie.slice(COOKIE.length + 1, -1)}`,
      ]
    ) {
      assertEquals(
        await who(server, { ...cookie, authorization }),
        undefined,
        authorization,
      );
    }
    // Other schemes are ignored: `Basic` may be a proxy's.
    for (const authorization of ["Basic eDp5", "Bearerx", "Digest a=b"]) {
      assertEquals(await who(server, { ...cookie, authorization }), "1");
    }
    // An invalid token doesn't clear the valid cookie.
    const response = await fetch(`${server.origin}/me`, {
      headers: { ...cookie, ...bearer("x") },
    });
    await response.body?.cancel();
    assertEquals(response.headers.getSetCookie(), []);
  }
});

Deno.test("With the strategy cookie, a token is valid as long as its session, and not as a cookie", async () => {
  await using server = await startAuth({ session: { strategy: "cookie" } });
  const browser = await server.signIn();
  const { token }: Me = await browser.json("/me");
  assertEquals(await who(server, bearer(token!)), "1");
  assertEquals(await who(server, { cookie: `${COOKIE}=${token}` }), undefined);
  const { value } = browser.cookies.get(COOKIE)!;
  assertEquals(await who(server, bearer(value)), undefined);
  await send(browser, "/sign-out");
  assertEquals(await who(server, bearer(token!)), undefined);
});

Deno.test("With the strategy cookie, getToken() returns a token for any session id", async () => {
  const clock = createClock();
  const store = createMemorySessionStore({ now: clock.now });
  await using server = await startAuth({
    clock,
    session: { strategy: "cookie", store },
  });
  await server.signIn();
  const [record] = store.listByUser("1");
  // One id in 4,096 begins like the header of a token.
  const id = `ey${record!.id.slice(2)}`;
  store.set({ ...record!, id, payload: { ...record!.payload, sid: id } });
  const cookie = `${COOKIE}=${await sign(id)}`;
  const response = await fetch(`${server.origin}/me`, { headers: { cookie } });
  const { token }: Me = await response.json();
  assertEquals(claimsOf(token!)["sid"], id);
  assertEquals(await who(server, bearer(token!)), "1");
});

Deno.test("With the strategy cookie, the cookie is the id's signature in exactly one spelling", async () => {
  await using server = await startAuth({ session: { strategy: "cookie" } });
  const good = (await server.signIn()).cookies.get(COOKIE)!.value;
  const [id, signature] = good.split(".") as [string, string];
  const other = (await server.signIn()).cookies.get(COOKIE)!.value;
  const { token }: Me = await (await server.signIn()).json("/me");
  const is = (value: string) => who(server, { cookie: `${COOKIE}=${value}` });
  assertEquals(await is(good), "1");
  assertEquals(await is(await sign(id)), "1");
  for (
    const value of [
      "",
      id,
      `${id}.`,
      `.${signature}`,
      `${id}.${other.split(".")[1]}`,
      `${other.split(".")[0]}.${signature}`,
      `${good}=`,
      `${good}.`,
      `${good}.${signature}`,
      good.toLowerCase(),
      `${id}.${"A".repeat(43)}`,
      `"${good}"`,
      encodeURIComponent(`${good}\n`),
      await sign("A".repeat(43)),
      await sign(id, "a secret of another app, as long as this one"),
      await sign(id, undefined, "SHA-512"),
      await sign(`${id}x`),
      await sign(id.slice(0, -1)),
      await sign("../".padEnd(43, "x")),
      await sign(`${id.slice(0, -1)}_`),
      token!,
      "x".repeat(20_000),
    ]
  ) {
    assertEquals(await is(value), undefined, value);
  }
  assertEquals(await is(good), "1");
});

Deno.test("Signing in creates a new id and ends the old session", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const browser = await server.signIn("ada");
    const before = cookieOf(browser);
    const first: Me = await browser.json("/me");
    await (await browser.ask("/sign-in", { body: { user: "bob" } })).text();
    const second: Me = await browser.json("/me");
    assertEquals(second.user!.id, "2");
    assertNotEquals(
      second.session!["sessionId"],
      first.session!["sessionId"],
    );
    assertEquals(browser.cookies.size, 1);
    if (strategy === "jwt") {
      // Without a store, the old token is valid until it expires.
      assertEquals(await who(server, before), "1");
      continue;
    }
    assertEquals(await who(server, before), undefined);
    assertEquals(await who(server, bearer(first.token!)), undefined);
    assertEquals(await server.plugin.listSessions("1"), []);
    assertEquals((await server.plugin.listSessions("2")).length, 1);
  }
});

Deno.test("Session fixation fails: sign-in replaces an id planted in the browser", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const attacker = await server.signIn("eve");
    const victim = server.browser();
    victim.cookies.set(COOKIE, attacker.cookies.get(COOKIE)!);
    await (await victim.ask("/sign-in", { body: { user: "ada" } })).text();
    assertEquals((await victim.json("/me")).user.id, "1");
    const mine = await who(server, cookieOf(attacker));
    assertEquals(mine, strategy === "jwt" ? "3" : undefined);
  }
});

Deno.test("Several sign-ins in one request leave one session", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({ session: { strategy } }, [{
      path: "/twice",
      async action({ context }) {
        const auth = getAuth(context);
        await Promise.all(
          ["ada", "ada", "ada"].map((user) =>
            auth.signIn("credentials", { user })
          ),
        );
        return auth.session!.sessionId;
      },
    }]);
    const browser = server.browser();
    const id = await browser.json("/twice", { method: "POST" });
    const sessions = await server.plugin.listSessions("1");
    assertEquals(sessions.map((session) => session.id), [id]);
    assertEquals((await browser.json("/me")).session.sessionId, id);
  }
});

Deno.test("Signing out ends the session with a store, and only clears the cookie without one", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const browser = await server.signIn();
    const { token }: Me = await browser.json("/me");
    const cookie = cookieOf(browser);
    await send(browser, "/sign-out");
    assertEquals(browser.cookies.size, 0);
    assertEquals((await browser.json("/me")).isAuthenticated, false);
    const replayed = strategy === "jwt" ? "1" : undefined;
    assertEquals(await who(server, cookie), replayed);
    assertEquals(await who(server, bearer(token!)), replayed);
    server.clock.pass(604800);
    assertEquals(await who(server, cookie), undefined);
  }
});

Deno.test("A request with a token or a key that replaces or removes a cookie ends the cookie's session too", async () => {
  const providers = [byName(), byKey()];
  for (const strategy of STORED) {
    for (const action of ["/sign-out", "/sign-in"]) {
      await using server = await startAuth({
        providers,
        session: { strategy },
      });
      const { token }: Me = await (await server.signIn("eve")).json("/me");
      const credentials = [
        [bearer(token!), "3"],
        [bearer("x"), undefined],
        [{ "x-api-key": KEY }, "2"],
        [{ "x-api-key": "x" }, undefined],
      ] as const;
      for (const [headers, user] of credentials) {
        const browser = await server.signIn("ada");
        const cookie = cookieOf(browser);
        assertEquals(await who(server, { ...cookie, ...headers }), user);
        assertEquals(await who(server, cookie), "1");
        const body = { user: "bob" };
        await (await browser.ask(action, { headers, body })).body?.cancel();
        const isKept = action === "/sign-in";
        assertEquals(browser.cookies.size, isKept ? 1 : 0);
        assertEquals(await who(server, cookie), undefined);
        assertEquals(await server.plugin.listSessions("1"), []);
      }
      assertEquals(await server.plugin.listSessions("3"), []);
      assertEquals(server.errors, []);
    }
  }
});

Deno.test("listSessions(), revokeSession() and revokeSessions() take effect at once", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({ session: { strategy } });
    const { plugin, clock } = server;
    const phone = await server.signIn("ada");
    clock.pass(60);
    const laptop = await server.signIn("ada");
    const other = await server.signIn("bob");
    const list = await plugin.listSessions("1");
    const begin = new Date(clock.now() - 60_000);
    assertEquals(list[0], {
      id: (await phone.json("/me")).session.sessionId,
      provider: "credentials",
      createdAt: begin,
      refreshedAt: begin,
      expiresAt: new Date(begin.getTime() + 604_800_000),
    });
    assertEquals(list.length, 2);
    await plugin.revokeSession(list[0]!.id);
    assertEquals(await who(server, cookieOf(phone)), undefined);
    assertEquals(await who(server, cookieOf(laptop)), "1");
    assertEquals(await plugin.revokeSessions("1"), 1);
    assertEquals(await plugin.revokeSessions("1"), 0);
    assertEquals(await plugin.listSessions("1"), []);
    assertEquals(await who(server, cookieOf(laptop)), undefined);
    assertEquals(await who(server, cookieOf(other)), "2");
    // The invalid cookie is cleared.
    await (await laptop.ask("/me")).text();
    assertEquals(laptop.cookies.size, 0);
    assertEquals((await plugin.listSessions("2")).length, 1);
    clock.pass(604800);
    assertEquals(await plugin.listSessions("2"), []);
  }
});

Deno.test("revokeSession() of an unknown session ends nothing and emits no event", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({ session: { strategy } });
    const browser = await server.signIn();
    const [session] = await server.plugin.listSessions("1");
    const before = server.events.length;
    await server.plugin.revokeSession("unknown");
    assertEquals(server.events.length, before);
    assertEquals(await who(server, cookieOf(browser)), "1");
    for (let i = 0; i < 2; i++) {
      await server.plugin.revokeSession(session!.id);
      assertEquals(server.events.slice(before), [
        {
          type: "sessions_revoked",
          userId: "1",
          count: 1,
          time: new Date(server.clock.now()),
        },
      ]);
    }
  }
});

Deno.test("listSessions() and revokeSessions() refuse an id that no user can have", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({ session: { strategy } });
    const browser = await server.signIn();
    const { listSessions, revokeSessions } = server.plugin;
    for (
      const [id, received] of [[1, "1"], [undefined, "undefined"], ["", '""']]
    ) {
      const expected =
        `userId must be a non-empty string, received ${received}`;
      for (const call of [listSessions, revokeSessions]) {
        await assertRejects(() => call(id as string), TypeError, expected);
      }
    }
    assertEquals(await who(server, cookieOf(browser)), "1");
  }
});

Deno.test("With the strategy jwt, listing and revoking sessions throws", async () => {
  await using server = await startAuth();
  for (
    const call of [
      () => server.plugin.listSessions("1"),
      () => server.plugin.revokeSession("x"),
      () => server.plugin.revokeSessions("1"),
    ]
  ) {
    await assertRejects(call, TypeError, 'the strategy "jwt" keeps none');
  }
});

Deno.test("10,001 sign-ins of one user evict no other user's session", async () => {
  for (const strategy of STORED) {
    await using server = await startAuth({ session: { strategy } });
    const { plugin } = server;
    const others = [await server.signIn("bob"), await server.signIn("eve")];
    let token: string | null = null;
    for (let i = 0; i < 10_001; i++) {
      const auth = await plugin.authenticate(new Request("http://localhost/"));
      await auth.signIn("credentials", { user: "ada" });
      if (i === 10_000) token = await auth.getToken();
    }
    assertEquals(await who(server, cookieOf(others[0]!)), "2");
    assertEquals(await who(server, cookieOf(others[1]!)), "3");
    assertEquals(await who(server, bearer(token!)), "1");
    const count = (await plugin.listSessions("1")).length;
    assert(count > 0 && count <= 100, `${count}`);
  }
});

Deno.test("With the strategy cookie, a bearer token has the store's current claims", async () => {
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
