/**
 * The `jwt` callback builds the payload. It can change the user's fields, but
 * not the session's own claims.
 *
 * @module
 */

import { assert, assertEquals, assertRejects } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { getAuth, getUser, requireRoles, withAuth } from "@quartet/kit/auth";
import type { AuthCallbacks, JWTPayload } from "@quartet/kit/auth";
import { claimsOf, startAuth, STRATEGIES } from "./harness.ts";
import type { Me } from "./harness.ts";

const ROUTES: readonly Route[] = [
  {
    path: "/owners",
    config: { ...requireRoles(["owner"]) },
    loader: ({ context }) => getUser(context),
  },
  {
    path: "/admins",
    loader: withAuth(({ auth }) => auth.hasRole("admin"), { roles: ["admin"] }),
  },
  {
    path: "/has",
    loader: ({ context }) =>
      ["owner", "admin"].map((role) => getAuth(context).hasRole(role)),
  },
];

/** Creates a callback that returns the token with some claims changed. */
function changing(claims: () => Record<string, unknown>): AuthCallbacks {
  return { jwt: ({ token }) => ({ ...token, ...claims() }) };
}

Deno.test("Roles, name and e-mail of the jwt callback reach the session", async () => {
  for (const strategy of STRATEGIES) {
    const profile = {
      roles: ["owner"],
      name: "Countess",
      email: "countess@example.com",
    };
    await using server = await startAuth({
      session: { strategy },
      callbacks: changing(() => profile),
    }, ROUTES);
    const browser = server.browser();
    const signedIn = await browser.json("/sign-in", { body: { user: "ada" } });
    const { roles, name, email, userId } = signedIn;
    assertEquals({ roles, name, email, userId }, { ...profile, userId: "1" });
    const me: Me = await browser.json("/me");
    assertEquals(me.session, signedIn);
    assertEquals(me.user, { ...profile, id: "1", plan: "pro" });
    const claims = claimsOf(me.token!);
    assertEquals(claims["roles"], ["owner"]);
    assertEquals(claims["sub"], "1");
    assertEquals(await browser.json("/owners"), me.user);
    assertEquals(await browser.json("/has"), [true, false]);
    const refused = await browser.ask("/admins");
    await refused.body?.cancel();
    assertEquals(refused.status, 403);
    assertEquals(server.errors, []);
  }
});

Deno.test("The jwt callback changes roles on refresh", async () => {
  for (const strategy of STRATEGIES) {
    let roles: unknown = ["owner"];
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
      callbacks: changing(() => ({ roles })),
    }, ROUTES);
    const browser = await server.signIn();
    assertEquals(await browser.json("/has"), [true, false]);
    roles = ["admin"];
    assertEquals(
      await browser.json("/has"),
      [true, false],
      "not refreshed yet",
    );
    server.clock.pass(61);
    await browser.json("/refresh", { method: "POST" });
    assertEquals(await browser.json("/has"), [false, true]);
    assertEquals(await browser.json("/admins"), true);
    const { session, token }: Me = await browser.json("/me");
    assertEquals(session!["roles"], ["admin"]);
    assertEquals(claimsOf(token!)["roles"], ["admin"]);
  }
});

Deno.test("A payload without roles removes them, at sign-in and on refresh", async () => {
  const without = ({ roles: _, email: __, ...token }: JWTPayload) =>
    token as JWTPayload;
  for (const strategy of STRATEGIES) {
    for (const none of [without, (t: JWTPayload) => ({ ...t, roles: null })]) {
      await using server = await startAuth({
        session: { strategy, updateAge: 60 },
        callbacks: {
          jwt: ({ token, user }) => user === undefined ? none(token) : token,
        },
      }, ROUTES);
      const browser = await server.signIn();
      assertEquals(await browser.json("/has"), [false, true]);
      server.clock.pass(61);
      await browser.json("/refresh", { method: "POST" });
      const { session, user }: Me = await browser.json("/me");
      assertEquals(session!["roles"], undefined);
      assertEquals(user!.name, "Ada");
      assertEquals(await browser.json("/has"), [false, false]);
    }
    await using server = await startAuth({
      session: { strategy },
      callbacks: { jwt: ({ token }) => without(token) },
    }, ROUTES);
    const browser = await server.signIn();
    const { session }: Me = await browser.json("/me");
    assertEquals([session!["roles"], session!["email"]], [
      undefined,
      undefined,
    ]);
  }
});

Deno.test("The jwt callback can't change identity, times or session id, also on refresh", async () => {
  const forged = {
    sub: "9",
    iat: 1,
    exp: 9_999_999_999,
    nbf: 1,
    iss: "them",
    aud: "them",
    jti: "chosen",
    sid: "chosen",
    auth_time: 9_999_999_999,
    provider: "trusted",
  };
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
      callbacks: changing(() => forged),
    });
    const browser = await server.signIn();
    const begin = server.clock.seconds;
    const first: Me = await browser.json("/me");
    server.clock.pass(61);
    await browser.json("/refresh", { method: "POST" });
    const { session, token }: Me = await browser.json("/me");
    assertEquals(session!["userId"], "1");
    assertEquals(session!["provider"], "credentials");
    assertEquals(session!["sessionId"], first.session!["sessionId"]);
    const { plan: _, email: __, name: ___, roles: ____, ...own } = claimsOf(
      token!,
    );
    assertEquals(own, {
      sub: "1",
      iat: begin + 61,
      exp: begin + 61 + 604800,
      sid: session!["sessionId"],
      auth_time: begin,
      provider: "credentials",
    });
  }
});

Deno.test("A jwt callback that returns roles, name or e-mail of the wrong type fails the sign-in", async () => {
  const wrong: [Record<string, unknown>, string][] = [
    [
      { roles: "admin" },
      "Cannot use session: roles of the payload that the jwt callback returned must be an array of strings, received a string",
    ],
    [{ roles: [1] }, "roles of the payload"],
    // deno-lint-ignore no-sparse-arrays -- a hole isn't a role
    [{ roles: [, "admin"] }, "roles of the payload"],
    [{ roles: { 0: "admin", length: 1 } }, "roles of the payload"],
    [{ roles: new Set(["admin"]) }, "roles of the payload"],
    [{ name: { first: "Ada" } }, "name of the payload"],
    [{ email: ["ada@example.com"] }, "email of the payload"],
  ];
  for (const strategy of STRATEGIES) {
    for (const [claims, message] of wrong) {
      await using server = await startAuth({
        session: { strategy },
        callbacks: changing(() => claims),
      });
      const browser = server.browser();
      const response = await browser.ask("/sign-in", { body: { user: "ada" } });
      await response.body?.cancel();
      assertEquals([response.status, browser.received], [500, []]);
      const [error] = server.errors as Error[];
      assert(error instanceof TypeError && error.message.includes(message));
      if (strategy === "jwt") continue;
      assertEquals(await server.plugin.listSessions("1"), []);
    }
    await using server = await startAuth({
      session: { strategy },
      callbacks: { jwt: () => [] as never },
    });
    const response = await server.browser().ask("/sign-in", {
      body: { user: "ada" },
    });
    await response.body?.cancel();
    assertEquals(response.status, 500);
    assert(
      (server.errors[0] as Error).message.includes("received an array"),
    );
  }
});

Deno.test("Roles of the wrong type on refresh are an error and grant no roles", async () => {
  for (const strategy of STRATEGIES) {
    let roles: unknown = ["reader"];
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
      callbacks: changing(() => ({ roles })),
    }, ROUTES);
    const browser = await server.signIn();
    roles = "owner";
    server.clock.pass(61);
    const visit = await server.plugin.authenticate(
      new Request("http://localhost/", {
        headers: {
          cookie: [...browser.cookies].map(([name, { value }]) =>
            `${name}=${value}`
          ).join("; "),
        },
      }),
    );
    await assertRejects(
      () => visit.refreshSession(),
      TypeError,
      "must be an array of strings",
    );
    assertEquals(visit.session!.roles, ["reader"]);
    assertEquals(visit.hasAnyRole(["owner", "o"]), false);
  }
});

Deno.test("Roles that a jwt callback keeps and changes later don't change the session", async () => {
  const roles = ["reader"];
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: changing(() => ({ roles })),
    }, ROUTES);
    const browser = await server.signIn();
    roles.push("owner");
    assertEquals(await browser.json("/has"), [false, false]);
    roles.pop();
  }
});
