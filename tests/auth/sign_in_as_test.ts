/**
 * Sessions that begin with `signInAs()`, for a user whom the app has checked.
 *
 * @module
 */

import { assert, assertEquals, assertNotEquals } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { type AuthEvent, getAuth, type User } from "@quartet/kit/auth";
import { byName, claimsOf, startAuth, STRATEGIES, USERS } from "./harness.ts";
import type { Me } from "./harness.ts";

const SIGN_IN_AS: Route = {
  path: "/sign-in-as",
  async action({ request, context }) {
    const { user, options } = await request.json();
    return await getAuth(context).signInAs(user, options);
  },
};

/** Events without their times. */
function withoutTimes(events: readonly AuthEvent[]) {
  return events.map(({ time: _, ...event }) => event);
}

Deno.test("signInAs() begins a session without calling a provider", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth(
      { session: { strategy }, providers: [] },
      [SIGN_IN_AS],
    );
    const browser = server.browser();
    const answer = await browser.json("/sign-in-as", {
      body: { user: USERS["ada"] },
    });
    assertEquals(answer.provider, undefined);
    const { user, session }: Me = await browser.json("/me");
    assertEquals(user, USERS["ada"]!);
    assertEquals(session!["sessionId"], answer.sessionId);
    assertEquals(withoutTimes(server.events), [
      { type: "sign_in", userId: "1" },
    ]);
  }
});

Deno.test("signInAs() accepts only ids of known providers", async () => {
  await using server = await startAuth({}, [SIGN_IN_AS]);
  const browser = server.browser();
  const body = { user: USERS["bob"], options: { provider: "credentials" } };
  const { provider } = await browser.json("/sign-in-as", { body });
  assertEquals(provider, "credentials");
  const refused = await browser.ask("/sign-in-as", {
    body: { user: USERS["bob"], options: { provider: "credentails" } },
  });
  assertEquals(refused.status, 500);
  await refused.body?.cancel();
  assertEquals(server.errors.map(String), [
    'TypeError: Cannot sign in: provider must be one of "credentials", received "credentails"',
  ]);
  assertEquals((await browser.json("/me")).user.id, "2");
});

Deno.test("signInAs() ends the old session and begins one with another id", async () => {
  for (const strategy of ["cookie", "hybrid"] as const) {
    await using server = await startAuth({ session: { strategy } }, [
      SIGN_IN_AS,
    ]);
    const browser = await server.signIn("ada");
    const before: Me = await browser.json("/me");
    await browser.json("/sign-in-as", { body: { user: USERS["ada"] } });
    const after: Me = await browser.json("/me");
    assertNotEquals(
      after.session!["sessionId"],
      before.session!["sessionId"],
    );
    const [only, ...others] = await server.plugin.listSessions("1");
    assertEquals(only!.id, after.session!["sessionId"]);
    assertEquals(others, []);
    const stolen = await fetch(`${server.origin}/me`, {
      headers: { authorization: `Bearer ${before.token}` },
    });
    assertEquals((await stolen.json()).user, null);
  }
});

Deno.test("signInAs() keeps secrets out of the session, and calls the callbacks", async () => {
  const called: string[] = [];
  await using server = await startAuth({
    callbacks: {
      onSessionCreated(session) {
        called.push("onSessionCreated");
        return session;
      },
      jwt({ token, user }) {
        called.push(`jwt ${user!.id}`);
        return { ...token, roles: ["member"] };
      },
      onSignIn({ id }) {
        called.push(`onSignIn ${id}`);
        if (id === "banned") throw new Error("banned");
      },
    },
  }, [SIGN_IN_AS]);
  const browser = server.browser();
  const user: User = { id: "9", passwordHash: "scrypt", plan: "pro" };
  await browser.json("/sign-in-as", { body: { user } });
  const me: Me = await browser.json("/me");
  assertEquals(me.user, { id: "9", plan: "pro", roles: ["member"] });
  assert(!JSON.stringify(claimsOf(me.token!)).includes("scrypt"));
  assertEquals(called, ["onSessionCreated", "jwt 9", "onSignIn 9"]);

  const other = server.browser();
  const refused = await other.ask("/sign-in-as", {
    body: { user: { id: "banned" } },
  });
  assertEquals(refused.status, 500);
  await refused.body?.cancel();
  assertEquals(other.cookies.size, 0);
  assertEquals(withoutTimes(server.events).at(-1), {
    type: "sign_in_failed",
    code: "INTERNAL_ERROR",
  });
});

Deno.test("signInAs() rejects a user without an id, and wrong options", async () => {
  const wrong: [body: unknown, message: string][] = [
    [
      { user: null },
      "Cannot sign in: user must be an object with an id, received null",
    ],
    [
      { user: { name: "Ada" } },
      "Cannot use session: id of the user passed to signInAs() must be a non-empty string, received undefined",
    ],
    [
      { user: { id: "" } },
      "Cannot use session: id of the user passed to signInAs() must be a non-empty string, received an empty string",
    ],
    [
      { user: { id: "1", roles: "admin" } },
      "Cannot use session: roles of the user passed to signInAs() must be an array of strings, received a string",
    ],
    [
      { user: { id: "1" }, options: { providr: "credentials" } },
      'Cannot sign in: unknown option "providr"; did you mean provider? Known options: provider',
    ],
  ];
  await using server = await startAuth({ providers: [byName()] }, [SIGN_IN_AS]);
  for (const [body, message] of wrong) {
    const browser = server.browser();
    const response = await browser.ask("/sign-in-as", { body });
    assertEquals(response.status, 500);
    await response.body?.cancel();
    assertEquals(browser.cookies.size, 0);
    assertEquals(String(server.errors.at(-1)), `TypeError: ${message}`);
  }
  assertEquals(server.events, []);
});
