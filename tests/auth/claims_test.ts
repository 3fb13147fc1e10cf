/**
 * Fields that users and callbacks put into sessions: which are kept, and that
 * none of them overrides the session's own claims.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import {
  createMemorySessionStore,
  credentials,
  getAuth,
} from "@quartet/kit/auth";
import type { User } from "@quartet/kit/auth";
import type { Route } from "@quartet/kit/app";
import { claimsOf, createClock, startAuth, STRATEGIES } from "./harness.ts";
import type { Me, TestConfig } from "./harness.ts";

/** Creates a config that signs in this user. */
function as(user: unknown): TestConfig {
  return {
    providers: [
      credentials({ authorize: () => Promise.resolve(user as User) }),
    ],
  };
}

/** Names that JSON can contain and object literals can't. */
const TREACHEROUS = '"__proto__":{"roles":["admin"]},"constructor":{"a":1}';

Deno.test("Keys of a user don't override the session's own claims", async () => {
  for (const strategy of STRATEGIES) {
    const user = {
      sub: "9",
      exp: 9_999_999_999,
      iat: 1,
      nbf: 9_999_999_999,
      sid: "chosen",
      iss: "them",
      aud: "them",
      jti: "chosen",
      auth_time: 9_999_999_999,
      provider: "trusted",
      ...JSON.parse(`{${TREACHEROUS},"prototype":1}`),
      id: "1",
      userId: "9",
      plan: "pro",
    };
    await using server = await startAuth({
      ...as(user),
      session: { strategy },
    });
    const browser = await server.signIn();
    const { session, user: seen, token }: Me = await browser.json("/me");
    assertEquals(session, {
      userId: "1",
      provider: "credentials",
      claims: { userId: "9", plan: "pro" },
      sessionId: session!["sessionId"],
      issuedAt: "2026-03-01T12:00:00.000Z",
      expiresAt: "2026-03-08T12:00:00.000Z",
    });
    assertEquals(seen, { id: "1", userId: "9", plan: "pro" });
    assertEquals(claimsOf(token!), {
      sub: "1",
      iat: server.clock.seconds,
      exp: server.clock.seconds + 604800,
      auth_time: server.clock.seconds,
      sid: session!["sessionId"],
      provider: "credentials",
      userId: "9",
      plan: "pro",
    });
    assertEquals(server.errors, []);
  }
});

Deno.test("The jwt callback adds claims but doesn't change the session's own", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        jwt: ({ token }) => ({
          ...token,
          ...JSON.parse(`{${TREACHEROUS}}`),
          sub: "9",
          exp: 9_999_999_999,
          iat: 1,
          nbf: 1,
          sid: "chosen",
          email: "eve@example.com",
          name: "Eve",
          roles: ["root"],
          provider: "trusted",
          id: "9",
          tenant: "blue",
        }),
      },
    });
    const browser = await server.signIn();
    const { session, user, token }: Me = await browser.json("/me");
    assertEquals(session!["userId"], "1");
    assertEquals(session!["roles"], ["root"]);
    assertEquals(session!["email"], "eve@example.com");
    assertEquals(session!["name"], "Eve");
    assertEquals(session!["provider"], "credentials");
    assertEquals(session!["expiresAt"], "2026-03-08T12:00:00.000Z");
    assertEquals(session!["claims"], { plan: "pro", id: "9", tenant: "blue" });
    assertEquals(user!.id, "1");
    assertEquals(user!["tenant"], "blue");
    const claims = claimsOf(token!);
    assertEquals(claims["sub"], "1");
    assertEquals(claims["sid"], session!["sessionId"]);
    assert(!("nbf" in claims));
    assertEquals(
      server.events.flatMap((event) =>
        event.type === "claim_ignored" ? [event.name] : []
      ).sort(),
      ["exp", "iat", "nbf", "provider", "sid", "sub"],
    );
  }
  assertEquals(({} as Record<string, unknown>)["roles"], undefined);
});

Deno.test("A claim of the jwt callback with a secret-sounding name is dropped and reported", async () => {
  await using server = await startAuth({
    callbacks: {
      jwt: ({ token }) => ({ ...token, accessToken: "AT-123", tenant: "blue" }),
    },
  });
  const { session, token }: Me = await (await server.signIn()).json("/me");
  assertEquals(session!["claims"], { plan: "pro", tenant: "blue" });
  assert(!("accessToken" in claimsOf(token!)));
  assertEquals(
    server.events.flatMap((event) =>
      event.type === "claim_ignored" ? [event.name] : []
    ),
    ["accessToken"],
  );
});

Deno.test("A jwt callback can drop custom claims, but not the session's own", async () => {
  await using server = await startAuth({
    callbacks: { jwt: () => ({ tenant: "blue" }) as never },
  });
  const { session }: Me = await (await server.signIn()).json("/me");
  const { sessionId, issuedAt, expiresAt, ...rest } = session!;
  assertEquals(rest, {
    userId: "1",
    provider: "credentials",
    claims: { tenant: "blue" },
  });
  assert(sessionId && issuedAt && expiresAt);
});

Deno.test("Claims of onSessionCreated don't override the session's own", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      callbacks: {
        onSessionCreated: (session) => ({
          ...session,
          claims: {
            ...JSON.parse(`{${TREACHEROUS}}`),
            sub: "9",
            roles: ["root"],
            provider: "trusted",
            plan: "free",
          },
        }),
      },
    });
    const { session, user }: Me = await (await server.signIn()).json("/me");
    assertEquals(session!["userId"], "1");
    assertEquals(session!["claims"], { plan: "free" });
    assertEquals(user!.roles, ["admin", "editor"]);
  }
});

Deno.test("Roles that are a string fail the sign-in, and the error says why", async () => {
  const refused: [unknown, string][] = [
    [
      { id: "1", roles: "admin" },
      'roles of the user that provider "credentials" returned must be an array of strings, received a string',
    ],
    [{ id: "1", roles: [1] }, "roles of the user"],
    [{ id: "1", roles: { 0: "admin" } }, "roles of the user"],
    [{ id: 1 }, "id of the user"],
    [{ id: "" }, "id of the user"],
    [{ name: "Ada" }, "id of the user"],
    [{ id: "1", email: 1 }, "email of the user"],
    [{ id: "1", name: {} }, "name of the user"],
  ];
  for (const [user, message] of refused) {
    await using server = await startAuth(as(user));
    const browser = server.browser();
    const response = await browser.ask("/sign-in", { body: {} });
    await response.body?.cancel();
    assertEquals(response.status, 500);
    assertEquals(browser.received, []);
    const [error] = server.errors as Error[];
    assert(error!.message.includes(message), error!.message);
  }
});

Deno.test("Roles that are a string from the session callback are an error", async () => {
  await using server = await startAuth({
    callbacks: {
      session: ({ session }) => ({ ...session, roles: "admin" as never }),
    },
  }, [{
    path: "/role",
    loader: ({ context }) => getAuth(context).hasRole("a"),
  }]);
  const browser = server.browser();
  const response = await browser.ask("/sign-in", { body: { user: "ada" } });
  await response.body?.cancel();
  assertEquals(response.status, 500);
  assertEquals(
    (server.errors[0] as Error).message,
    "Cannot use session: roles of what the session callback returned must be an array of strings, received a string",
  );
});

Deno.test("hasAnyRole() and hasAllRoles() require a list of roles", async () => {
  const ask: Route = {
    path: "/roles",
    loader({ context }) {
      const auth = getAuth(context);
      for (const method of ["hasAnyRole", "hasAllRoles"] as const) {
        assertThrows(
          () => auth[method]("admin" as never),
          TypeError,
          'Cannot check roles: roles must be an array of roles, received "admin"',
        );
      }
      return "checked";
    },
  };
  await using server = await startAuth({}, [ask]);
  assertEquals(await server.browser().json("/roles"), "checked");
  assertEquals(await (await server.signIn("ada")).json("/roles"), "checked");
});

Deno.test("hasRole(), hasAnyRole() and hasAllRoles() check the session's roles, and return false when signed out", async () => {
  const ask: Route = {
    path: "/roles",
    loader({ context }) {
      const auth = getAuth(context);
      return [
        auth.hasRole("admin"),
        auth.hasRole("root"),
        auth.hasRole(""),
        auth.hasRole("adm"),
        auth.hasRole("length"),
        auth.hasAnyRole(["root", "editor"]),
        auth.hasAnyRole(["root"]),
        auth.hasAnyRole([]),
        auth.hasAllRoles(["admin", "editor"]),
        auth.hasAllRoles(["admin", "root"]),
        auth.hasAllRoles([]),
      ].map(Number).join("");
    },
  };
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, [ask]);
    assertEquals(await server.browser().json("/roles"), "00000000000");
    assertEquals(
      await (await server.signIn("ada")).json("/roles"),
      "10000100101",
    );
    assertEquals(
      await (await server.signIn("bob")).json("/roles"),
      "00000100001",
    );
    // Signed in, without any roles.
    assertEquals(
      await (await server.signIn("eve")).json("/roles"),
      "00000000001",
    );
  }
});

Deno.test("Changing a handler's session changes neither other requests nor its own roles", async () => {
  const promote: Route = {
    path: "/promote",
    loader({ context }) {
      const auth = getAuth(context);
      const { session } = auth;
      session!.roles!.push("root");
      session!.userId = "9";
      session!.claims!["plan"] = "gold";
      (session!.claims!["tags"] as string[] | undefined)?.push("root");
      // All requests of a session share the same dates.
      assertThrows(() => session!.expiresAt!.setTime(0), TypeError, "copy");
      session!.expiresAt = new Date(0);
      auth.getUser()!.roles!.push("root");
      return [auth.hasRole("root"), auth.hasAnyRole(["root"])];
    },
  };
  for (const strategy of STRATEGIES) {
    for (const hasCallback of [false, true]) {
      await using server = await startAuth({
        ...as({ id: "1", roles: ["editor"], plan: "free", tags: ["a"] }),
        session: { strategy },
        ...(hasCallback
          ? { callbacks: { session: ({ session }) => session } }
          : {}),
      }, [promote]);
      const browser = await server.signIn();
      const before: Me = await browser.json("/me");
      for (let i = 0; i < 3; i++) {
        assertEquals(await browser.json("/promote"), [false, false]);
      }
      const after: Me = await browser.json("/me");
      assertEquals(after.session, before.session);
      assertEquals(after.user, before.user);
      assertEquals(claimsOf(after.token!), claimsOf(before.token!));
    }
  }
});

Deno.test("Keys that look like secrets enter neither token nor session nor store", async () => {
  const names = [
    "password",
    "Password",
    "passwordHash",
    "password_hash",
    "passwordSalt",
    "hashedPassword",
    "encrypted_password",
    "currentPassword",
    "passwd",
    "pwd",
    "PWD_HASH",
    "passphrase",
    "hash",
    "salt",
    "pinHash",
    "token",
    "tokens",
    "accessToken",
    "access_token",
    "refresh-token",
    "idToken",
    "apiKey",
    "api_keys",
    "secret",
    "clientSecret",
    "totpSecret",
    "privateKey",
    "secret_key",
    "recoveryCodes",
    "backup_codes",
    "totp",
    "passcode",
    "oobCode",
    "oob-code",
    "verification_code",
    "verificationCode",
    "device_code",
    "smsCode",
    "recovery-code",
    "private_key",
    "signingKey",
    "signing-key",
    "hmac",
    "magic",
    "magicLink",
  ];
  const secrets = Object.fromEntries(
    names.map((name) => [name, "open-sesame"]),
  );
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    const store = createMemorySessionStore({ now: clock.now });
    await using server = await startAuth({
      ...as({
        id: "1",
        plan: "pro",
        keyboard: "qwerty",
        tokenizer: "bpe",
        state: "NY",
        nested: { ...secrets, color: "red", list: [secrets, 1] },
        ...secrets,
      }),
      clock,
      session: { strategy, ...(strategy === "jwt" ? {} : { store }) },
      callbacks: {
        onSessionCreated: (session) => ({
          ...session,
          claims: { ...session.claims, ...secrets },
        }),
        jwt: ({ token }) => ({ ...token, ...secrets, jwt: secrets }),
      },
    });
    const browser = await server.signIn();
    const me: Me = await browser.json("/me");
    const claims = {
      plan: "pro",
      keyboard: "qwerty",
      tokenizer: "bpe",
      state: "NY",
      nested: { color: "red", list: [{}, 1] },
      jwt: {},
    };
    assertEquals(me.session!["claims"], claims);
    const told = JSON.stringify([
      me,
      claimsOf(me.token!),
      store.listByUser("1"),
      server.events,
      [...browser.cookies.values()],
    ]);
    assert(!told.includes("open-sesame"), told);
  }
});

Deno.test("Other fields of a user are kept as JSON represents them", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      ...as({
        id: "1",
        email: null,
        name: null,
        roles: null,
        since: new Date(0),
        none: null,
        gone: undefined,
        run: () => {},
        amount: NaN,
        list: [undefined, 1],
        text: "ü 💡 \u2028",
      }),
      session: { strategy },
    });
    const { session, user }: Me = await (await server.signIn()).json("/me");
    const claims = {
      since: "1970-01-01T00:00:00.000Z",
      none: null,
      amount: null,
      list: [null, 1],
      text: "ü 💡 \u2028",
    };
    assertEquals(session!["claims"], claims);
    assertEquals(user, { id: "1", ...claims });
  }
});

Deno.test("A user's field may be nested 20 levels deep; a deeper one fails the sign-in", async () => {
  const nest = (depth: number) => {
    let value: unknown = 1;
    for (let i = 0; i < depth; i++) value = [value];
    return value;
  };
  const loop: Record<string, unknown> = {};
  loop["self"] = loop;
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      ...as({ id: "1", deep: nest(20) }),
      session: { strategy },
    });
    const { user }: Me = await (await server.signIn()).json("/me");
    assertEquals(user!["deep"], nest(20));
  }
  for (
    const [deep, message] of [
      [nest(21), "nested deeper than 20 levels"],
      [loop, "or contains itself"],
      [1n, "JSON doesn't carry a bigint"],
    ] as const
  ) {
    await using server = await startAuth(as({ id: "1", deep }));
    const browser = server.browser();
    const response = await browser.ask("/sign-in", { body: {} });
    await response.body?.cancel();
    assertEquals([response.status, browser.received], [500, []]);
    assert((server.errors[0] as Error).message.includes(message));
  }
});

Deno.test("A session too large for a token fails the sign-in, except with the strategy cookie", async () => {
  const large = as({ id: "1", text: "x".repeat(7000) });
  for (const strategy of STRATEGIES) {
    const signedIn: string[] = [];
    await using server = await startAuth({
      ...large,
      session: { strategy },
      callbacks: { onSignIn: ({ id }) => void signedIn.push(id) },
    });
    const browser = server.browser();
    const response = await browser.ask("/sign-in", { body: {} });
    await response.body?.cancel();
    if (strategy === "cookie") {
      assertEquals(response.status, 200);
      assertEquals(signedIn, ["1"]);
      continue;
    }
    assertEquals([response.status, browser.received], [500, []]);
    assertEquals(signedIn, []);
    assert(
      (server.errors[0] as Error).message.includes(
        'use the strategy "cookie"',
      ),
    );
  }
});
