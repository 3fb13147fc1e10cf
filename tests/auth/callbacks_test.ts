/**
 * The application's callbacks: when they run, their arguments, what they may
 * change, and what happens when they fail.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { createMemorySessionStore, getAuth } from "@quartet/kit/auth";
import type { AuthCallbacks, Session } from "@quartet/kit/auth";
import { captureErrors } from "../helpers.ts";
import { claimsOf, startAuth, STRATEGIES, USERS } from "./harness.ts";
import type { Me } from "./harness.ts";

const COOKIE = "app.session";

/**
 * Creates all callbacks, which record their calls. Asynchronous ones yield
 * first.
 */
function recordingCallbacks(isAsync: boolean) {
  const calls: { name: string; args: unknown }[] = [];
  const note = <A>(name: string, result: (args: A) => unknown) => (args: A) => {
    calls.push({ name, args: structuredClone(args) });
    return isAsync
      ? new Promise((resolve) => queueMicrotask(() => resolve(result(args))))
      : result(args);
  };
  type Args = { token: unknown; session: unknown };
  const callbacks = {
    onSessionCreated: note("onSessionCreated", (session) => session),
    onSessionValidate: note("onSessionValidate", () => true),
    onSignIn: note("onSignIn", () => undefined),
    onSignOut: note("onSignOut", () => undefined),
    jwt: note("jwt", ({ token }: Args) => token),
    session: note("session", ({ session }: Args) => session),
  } as AuthCallbacks;
  return { calls, callbacks };
}

Deno.test("Callbacks run in order with their arguments, synchronous or not", async () => {
  for (const strategy of STRATEGIES) {
    for (const isAsync of [false, true]) {
      const { calls, callbacks } = recordingCallbacks(isAsync);
      await using server = await startAuth({
        session: { strategy, updateAge: 60 },
        callbacks,
      });
      const take = () => calls.splice(0);
      const browser = server.browser();
      const signedIn = await browser.json("/sign-in", {
        body: { user: "ada" },
      });
      const { sessionId } = signedIn;
      const begin = server.clock.seconds;
      const times = {
        issuedAt: new Date(begin * 1000),
        expiresAt: new Date((begin + 604800) * 1000),
      };
      const session = {
        userId: "1",
        provider: "credentials",
        email: "ada@example.com",
        name: "Ada",
        roles: ["admin", "editor"],
        claims: { plan: "pro" },
        sessionId,
        ...times,
      };
      const token = {
        sub: "1",
        iat: begin,
        exp: begin + 604800,
        sid: sessionId,
        auth_time: begin,
        email: "ada@example.com",
        name: "Ada",
        roles: ["admin", "editor"],
        provider: "credentials",
        plan: "pro",
      };
      assertEquals(take(), [
        { name: "onSessionCreated", args: session },
        { name: "jwt", args: { token, session, user: USERS["ada"] } },
        { name: "onSignIn", args: USERS["ada"] },
        { name: "session", args: { token, session } },
      ]);

      await browser.json("/me");
      assertEquals(take(), [
        { name: "session", args: { token, session } },
        { name: "onSessionValidate", args: session },
      ]);

      server.clock.pass(61);
      await browser.json("/refresh", { method: "POST" });
      const renewed = {
        token: { ...token, iat: begin + 61, exp: begin + 61 + 604800 },
        session: {
          ...session,
          issuedAt: new Date((begin + 61) * 1000),
          expiresAt: new Date((begin + 61 + 604800) * 1000),
        },
      };
      assertEquals(take(), [
        { name: "session", args: { token, session } },
        { name: "onSessionValidate", args: session },
        { name: "jwt", args: { token: renewed.token, session } },
        { name: "session", args: renewed },
      ]);

      await (await browser.ask("/sign-out", { method: "POST" })).text();
      assertEquals(take(), [
        { name: "session", args: renewed },
        { name: "onSessionValidate", args: renewed.session },
        { name: "onSignOut", args: renewed.session },
      ]);

      await browser.json("/me");
      await (await browser.ask("/sign-out", { method: "POST" })).text();
      await (await browser.ask("/sign-in", { body: {} })).text();
      assertEquals(take(), [], "nobody is there");
      assertEquals(server.errors, []);
    }
  }
});

Deno.test("onSessionCreated changes the session that is stored and returned", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        onSessionCreated: (session) => ({
          ...session,
          name: "Countess",
          email: null as never,
          roles: [...session.roles ?? [], "new"],
          claims: { ...session.claims, since: 1843 },
          expiresAt: new Date(session.issuedAt!.getTime() + 60_000),
        }),
      },
    }, [{
      path: "/new",
      loader: ({ context }) => getAuth(context).hasRole("new"),
    }]);
    const browser = server.browser();
    const signedIn = await browser.json("/sign-in", { body: { user: "ada" } });
    assertEquals(browser.cookies.get(COOKIE)!.attributes["max-age"], "60");
    const { session, token }: Me = await browser.json("/me");
    assertEquals(session, signedIn);
    assertEquals(session!["name"], "Countess");
    assertEquals(session!["email"], undefined);
    assertEquals(session!["claims"], { plan: "pro", since: 1843 });
    assertEquals(claimsOf(token!)["since"], 1843);
    assertEquals(await browser.json("/new"), true);
    server.clock.pass(60);
    assertEquals((await browser.json("/me")).session, null);
  }
});

Deno.test("onSessionCreated may change the session in place", async () => {
  await using server = await startAuth({
    callbacks: {
      onSessionCreated: ((session) => {
        session.name = "Countess";
      }) as AuthCallbacks["onSessionCreated"] & object,
    },
  });
  const { session }: Me = await (await server.signIn()).json("/me");
  assertEquals(session!["name"], "Countess");
});

Deno.test("The session callback changes what handlers see, including roles, but not the token", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        jwt: ({ token, user }) =>
          user === undefined ? token : { ...token, tenant: "blue" },
        session: ({ token, session }) => ({
          ...session,
          name: `${session.name} of ${token["tenant"]}`,
          roles: ["guest"],
        }),
      },
    }, [{
      path: "/roles",
      loader({ context }) {
        const auth = getAuth(context);
        return [auth.hasRole("guest"), auth.hasRole("admin")];
      },
    }]);
    const browser = server.browser();
    const signedIn = await browser.json("/sign-in", { body: { user: "ada" } });
    assertEquals(signedIn.name, "Ada of blue");
    const { session, user, token }: Me = await browser.json("/me");
    assertEquals(session, signedIn);
    assertEquals(user!.name, "Ada of blue");
    assertEquals(await browser.json("/roles"), [true, false]);
    assertEquals(claimsOf(token!)["name"], "Ada");
    assertEquals(claimsOf(token!)["roles"], ["admin", "editor"]);
  }
});

Deno.test("A session callback may return null for a name, an e-mail address or roles", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        session: ({ session }) => {
          const row = { email: null, name: null, roles: null };
          return Object.assign(session, row) as unknown as Session;
        },
      },
    });
    const browser = await server.signIn("ada");
    const { user, isAuthenticated }: Me = await browser.json("/me");
    assertEquals([user, isAuthenticated], [{ id: "1", plan: "pro" }, true]);
    assertEquals(server.errors, []);
  }
});

Deno.test("Callbacks receive copies: changing them changes no token", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        jwt({ token, session }) {
          session!.roles!.push("root");
          session!.userId = "9";
          return token;
        },
        session({ token, session }) {
          token.sub = "9";
          (token["roles"] as string[]).push("root");
          return session;
        },
        onSessionValidate(session) {
          return session.roles!.length === 2;
        },
      },
    });
    const browser = await server.signIn();
    for (let i = 0; i < 3; i++) {
      const { session, token }: Me = await browser.json("/me");
      assertEquals(session!["roles"], ["admin", "editor"]);
      assertEquals(claimsOf(token!)["sub"], "1");
    }
  }
});

Deno.test("A callback that throws or returns an invalid value at sign-in fails the sign-in", async () => {
  const fail = () => {
    throw new Error("The callback is broken");
  };
  const broken: [AuthCallbacks, string][] = [
    [{ onSessionCreated: fail }, "The callback is broken"],
    [
      { onSessionCreated: () => Promise.reject(new Error("down")) },
      "down",
    ],
    [{ onSessionCreated: () => "x" as never }, "onSessionCreated returned"],
    [{ onSessionCreated: () => ({}) as never }, "onSessionCreated returned"],
    [
      { onSessionCreated: ({ expiresAt }) => ({ expiresAt }) as never },
      "userId of the session that onSessionCreated returned",
    ],
    [
      { onSessionCreated: (session) => ({ ...session, roles: "a" as never }) },
      "roles of the session that onSessionCreated returned",
    ],
    [
      {
        onSessionCreated: (session) => ({
          ...session,
          expiresAt: session.issuedAt,
        }),
      },
      "must be a Date in the future",
    ],
    [
      {
        onSessionCreated: (session) => ({
          ...session,
          expiresAt: "tomorrow" as never,
        }),
      },
      "must be a Date in the future",
    ],
    [
      {
        onSessionCreated: (session) => ({
          ...session,
          expiresAt: new Date(NaN),
        }),
      },
      "must be a Date in the future",
    ],
    [{ onSignIn: fail }, "The callback is broken"],
    [{ onSignIn: () => Promise.reject(new Error("down")) }, "down"],
    [{ jwt: fail }, "The callback is broken"],
    [{ jwt: () => null as never }, "must return a payload, received null"],
    [{ jwt: () => "x" as never }, "must return a payload, received a string"],
    [{ session: fail }, "The callback is broken"],
    [{ session: () => null as never }, "must return one, received null"],
    [{ session: () => ({}) as never }, "userId of what the session callback"],
  ];
  for (const strategy of STRATEGIES) {
    for (const [callbacks, message] of broken) {
      await using server = await startAuth({
        session: { strategy },
        callbacks,
      });
      const browser = server.browser();
      const response = await browser.ask("/sign-in", { body: { user: "ada" } });
      assertEquals(response.status, 500);
      assert(!(await response.text()).includes(message));
      assertEquals(browser.received, []);
      assertEquals(server.errors.length, 1);
      const error = server.errors[0] as Error;
      assert(error.message.includes(message), error.message);
      assertEquals(
        server.events.filter(({ type }) => type === "sign_in"),
        [],
      );
      if (strategy !== "jwt" && callbacks.session === undefined) {
        assertEquals(await server.plugin.listSessions("1"), []);
      }
    }
  }
});

Deno.test("A callback that throws during a request makes it a 500", async () => {
  for (const strategy of STRATEGIES) {
    for (const name of ["onSessionValidate", "session"] as const) {
      let isBroken = false;
      await using server = await startAuth({
        session: { strategy },
        callbacks: {
          [name]: ({ session }: { session: never }) => {
            if (isBroken) throw new Error("The database is down");
            return session ?? true;
          },
        },
      });
      const browser = await server.signIn();
      isBroken = true;
      const response = await browser.ask("/me");
      assertEquals(response.status, 500);
      assert(!(await response.text()).includes("database"));
      isBroken = false;
      assertEquals((await browser.json("/me")).user.id, "1");
    }
  }
});

Deno.test("A session is rejected unless onSessionValidate returns true", async () => {
  for (const strategy of STRATEGIES) {
    for (
      const answer of [false, Promise.resolve(false), 0, null, undefined, ""]
    ) {
      await using server = await startAuth({
        session: { strategy },
        callbacks: { onSessionValidate: () => answer as boolean },
      });
      const browser = await server.signIn();
      const { session }: Me = await browser.json("/me");
      assertEquals(session, null, `${answer}`);
      assertEquals(browser.cookies.size, 0);
    }
  }
});

Deno.test("onSignOut that throws is logged, and the user is signed out", async () => {
  using captured = captureErrors();
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        onSignOut: () => {
          throw new Error("The audit log is full");
        },
      },
    });
    const browser = await server.signIn();
    const response = await browser.ask("/sign-out", { method: "POST" });
    await response.body?.cancel();
    assertEquals(response.status, 204);
    assertEquals(browser.cookies.size, 0);
    assertEquals((await browser.json("/me")).session, null);
    if (strategy === "jwt") continue;
    assertEquals(await server.plugin.listSessions("1"), []);
  }
  assertEquals(captured.calls.length, STRATEGIES.length);
});

Deno.test("A session callback that throws at sign-in leaves no session in the store", async () => {
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
