/**
 * The contract, part A: the context's members, the settings with their
 * defaults, and the functions, for each strategy through a real server. Other
 * files test guards, callbacks, refreshing and cookies.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import { Context } from "@quartet/kit/app";
import type { Route } from "@quartet/kit/app";
import * as auth from "@quartet/kit/auth";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  getAuth,
  getOAuthUrl,
  getSession,
  getUser,
  mock,
} from "@quartet/kit/auth";
import type { AuthContext, AuthProvider, User } from "@quartet/kit/auth";
import { parseCookie, startServer } from "./browser.ts";
import {
  byName,
  claimsOf,
  createClock,
  SECRET,
  startAuth,
  STRATEGIES,
  USERS,
} from "./harness.ts";
import type { Me } from "./harness.ts";

Deno.test("The auth entry point exports all operations and factories, and the presets under both names", () => {
  for (
    const name of [
      "createAuthPlugin",
      "getAuth",
      "getSession",
      "getUser",
      "requireAuth",
      "requireRoles",
      "optionalAuth",
      "withAuth",
      "getOAuthUrl",
      "handleOAuthCallback",
      "credentials",
      "presetCodeHost",
      "presetIdentity",
      "presetChat",
      "oauth",
      "mock",
      "apiKey",
    ] as const
  ) {
    assertEquals(typeof auth[name], "function", name);
  }
  assertEquals(auth.github, auth.presetCodeHost);
  assertEquals(auth.google, auth.presetIdentity);
  assertEquals(auth.discord, auth.presetChat);
});

Deno.test("getAuth() of an anonymous request has all members, without a session", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } }, [{
      path: "/members",
      async loader({ context }) {
        const auth: AuthContext = context.get("auth");
        assert(auth === getAuth(context));
        return [
          auth.session,
          auth.isAuthenticated(),
          auth.hasRole("admin"),
          auth.hasAnyRole(["admin"]),
          auth.hasAllRoles(["admin"]),
          auth.getUser(),
          await auth.getToken(),
          await auth.refreshSession(),
          auth.getCookieHeader(),
          getSession(context),
          getUser(context),
        ];
      },
    }]);
    assertEquals(await server.browser().json("/members"), [
      null,
      false,
      false,
      false,
      false,
      null,
      null,
      null,
      null,
      null,
      null,
    ]);
  }
});

Deno.test("Signing in and out changes session, user, token and cookie at each step", async () => {
  for (const strategy of STRATEGIES) {
    const life: Route = {
      path: "/life",
      async action({ context }) {
        const auth = getAuth(context);
        const session = await auth.signIn("credentials", { user: "ada" });
        assertEquals(session, {
          userId: "1",
          email: "ada@example.com",
          name: "Ada",
          roles: ["admin", "editor"],
          claims: { plan: "pro" },
          issuedAt: new Date("2026-03-01T12:00:00Z"),
          expiresAt: new Date("2026-03-08T12:00:00Z"),
          sessionId: session.sessionId,
          provider: "credentials",
        });
        assert(session.sessionId!.length >= 22, "at least 128 bits");
        assertEquals(auth.session, session);
        assertEquals(getSession(context), session);
        assertEquals(auth.isAuthenticated(), true);
        assertEquals(auth.hasRole("admin"), true);
        assertEquals(auth.hasAnyRole(["root", "editor"]), true);
        assertEquals(auth.hasAllRoles(["admin", "editor"]), true);
        assertEquals(auth.getUser(), USERS["ada"]);
        assertEquals(getUser(context), USERS["ada"]);
        assertEquals(await auth.refreshSession(), session);
        const token = claimsOf((await auth.getToken())!);
        assertEquals(token["sub"], "1");
        assertEquals(token["iat"], Date.parse("2026-03-01T12:00:00Z") / 1000);
        assertEquals(token["exp"], Date.parse("2026-03-08T12:00:00Z") / 1000);
        assertEquals(token["sid"], session.sessionId);
        const [name, cookie] = parseCookie(auth.getCookieHeader()!);
        assertEquals(name, "app.session");
        assertEquals(auth.getCookieHeaders(), [auth.getCookieHeader()!]);
        // The whole session, or only its id.
        assertEquals(
          cookie.value.split(".").length,
          strategy === "cookie" ? 2 : 3,
        );

        await auth.signOut();
        assertEquals(auth.session, null);
        assertEquals(auth.isAuthenticated(), false);
        assertEquals(auth.hasRole("admin"), false);
        assertEquals(auth.getUser(), null);
        assertEquals(await auth.getToken(), null);
        const [cleared, { value, attributes }] = parseCookie(
          auth.getCookieHeader()!,
        );
        assertEquals([cleared, value], ["app.session", ""]);
        assertEquals(attributes["max-age"], "0");
        await auth.signOut();
        return "done";
      },
    };
    await using server = await startAuth({ session: { strategy } }, [life]);
    const browser = server.browser();
    assertEquals(await browser.json("/life", { method: "POST" }), "done");
    assertEquals(server.errors, []);
    assertEquals(browser.cookies.size, 0);

    await (await browser.ask("/sign-in", { body: { user: "ada" } })).text();
    const { session, user, token }: Me = await browser.json("/me");
    assertEquals(user, USERS["ada"]);
    assertEquals(session!["claims"], { plan: "pro" });
    assertEquals(claimsOf(token!)["sub"], "1");
    await (await browser.ask("/sign-out", { method: "POST" })).text();
    assertEquals((await browser.json("/me")).isAuthenticated, false);
  }
});

Deno.test("A user with only an id becomes a session with only an id", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const { session, user }: Me = await (await server.signIn("eve"))
      .json("/me");
    assertEquals(Object.keys(session!).sort(), [
      "expiresAt",
      "issuedAt",
      "provider",
      "sessionId",
      "userId",
    ]);
    assertEquals(user, { id: "3" });
  }
});

Deno.test("The strategy is jwt by default, and an invalid one is an error", async () => {
  await using server = await startAuth();
  const browser = await server.signIn();
  const { token }: Me = await browser.json("/me");
  assertEquals(browser.cookies.get("app.session")!.value, token);
  assertThrows(
    () =>
      createAuthPlugin({
        session: { secret: SECRET, strategy: "token" as never },
      }),
    TypeError,
    'session.strategy must be one of "jwt", "cookie", "hybrid", received "token"',
  );
});

Deno.test("The deprecated secret and sessionDuration apply unless their replacements are set", async () => {
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    const start = (config: Parameters<typeof createAuthPlugin>[0]) =>
      startServer(
        createAuthPlugin({
          providers: [byName()],
          now: clock.now,
          ...config,
        }),
        [{
          path: "/in",
          action: ({ context }) =>
            getAuth(context).signIn("credentials", { user: "ada" }),
        }],
      );
    const ageIn = async (server: Awaited<ReturnType<typeof start>>) => {
      const browser = server.browser();
      await (await browser.ask("/in", { method: "POST" })).text();
      return browser.cookies.get("app.session")?.attributes["max-age"];
    };
    await using old = await start({
      secret: SECRET,
      sessionDuration: 60,
      session: { strategy } as never,
    });
    assertEquals(await ageIn(old), "60");
    await using both = await start({
      secret: "not this one",
      sessionDuration: 60,
      session: { strategy, secret: SECRET, maxAge: 90 },
    });
    assertEquals(await ageIn(both), "90");
  }
  createAuthPlugin({ secret: SECRET });
});

Deno.test("maxAge is 604800 seconds by default", async () => {
  for (const strategy of STRATEGIES) {
    for (
      const [session, seconds] of [[{}, 604800], [{ maxAge: 90 }, 90]] as const
    ) {
      await using server = await startAuth({
        session: { strategy, ...session },
      });
      const browser = await server.signIn();
      const { session: seen }: Me = await browser.json("/me");
      assertEquals(
        Date.parse(String(seen!["expiresAt"])),
        server.clock.now() + seconds * 1000,
      );
      const { attributes } = browser.cookies.get("app.session")!;
      assertEquals(attributes["max-age"], String(seconds));
    }
  }
});

Deno.test("signIn() calls the provider with the given id", async () => {
  const provider = (id: string): AuthProvider =>
    credentials({
      id,
      name: id.toUpperCase(),
      authorize: (given) => Promise.resolve({ id, given }),
    });
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      providers: [provider("staff"), provider("guests")],
    });
    const browser = server.browser();
    const body = { provider: "guests", pin: "1815", list: [1] };
    const session = await browser.json("/sign-in", { body });
    assertEquals(session.userId, "guests");
    assertEquals(session.provider, "guests");
    assertEquals(session.claims, { given: { pin: "1815", list: [1] } });
  }
});

Deno.test("Provider factories have the contract's ids, types and defaults", async () => {
  const authorize = () => Promise.resolve(null);
  assertEquals(credentials({ authorize }).id, "credentials");
  assertEquals(credentials({ authorize }).type, "credentials");
  assertEquals(credentials({ authorize, id: "a", name: "B" }).name, "B");
  assertEquals(apiKey({ validate: authorize }).type, "credentials");
  const client = { clientId: "id", clientSecret: "secret" };
  const presets = [
    [auth.presetCodeHost(client), "github", "read:user user:email"],
    [auth.presetIdentity(client), "google", "openid email profile"],
    [auth.presetChat(client), "discord", "identify email"],
  ] as const;
  for (const [preset, id, scope] of presets) {
    assertEquals([preset.id, preset.type], [id, "oauth"]);
    const url = new URL(
      preset.getAuthorizationUrl!("state", "https://app.example/callback"),
    );
    assertEquals(url.searchParams.get("scope"), scope);
    assertEquals(url.searchParams.get("client_id"), "id");
    assertEquals(url.searchParams.get("state"), "state");
    assertEquals(
      url.searchParams.get("redirect_uri"),
      "https://app.example/callback",
    );
    assertEquals(await preset.authorize({}), null);
  }
  const user: User = { id: "7", name: "Seven" };
  assertEquals(await mock({ user }).authorize({}), user);
  assert((await mock().authorize({}))!.id !== "");
});

Deno.test("mock() signs in its user, or the user of its session", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      providers: [mock({
        session: {
          userId: "8",
          roles: ["tester"],
          claims: { plan: "free" },
          expiresAt: new Date(0),
        },
      })],
    });
    const browser = server.browser();
    const session = await browser.json("/sign-in", {
      body: { provider: "mock" },
    });
    assertEquals(session.userId, "8");
    assertEquals(session.roles, ["tester"]);
    assertEquals(session.provider, "mock");
    assertEquals((await browser.json("/me")).user, {
      id: "8",
      roles: ["tester"],
      plan: "free",
    });
  }
});

Deno.test("getAuth(), getSession() and getUser() throw if the plugin is missing", () => {
  const context = new Context(new Request("http://localhost/"));
  for (
    const call of [
      () => getAuth(context),
      () => getSession(context),
      () => getUser(context),
      () => getOAuthUrl(context, "github", "https://app.example/"),
      () => auth.requireAuth().auth.check(context.request, context),
    ]
  ) {
    assertThrows(
      call,
      TypeError,
      "the auth plugin has not run for this request",
    );
  }
  context.set("auth", {});
  assertThrows(
    () => getOAuthUrl(context, "github", "https://app.example/"),
    TypeError,
    "received another one",
  );
});

Deno.test("The plugin's getAuth(), getSession() and getUser() match the exported ones", async () => {
  for (const strategy of STRATEGIES) {
    const holder: { plugin?: auth.AuthPlugin } = {};
    await using server = await startAuth({ session: { strategy } }, [{
      path: "/own",
      loader({ context }) {
        const { plugin } = holder;
        assert(plugin!.getAuth(context) === getAuth(context));
        assertEquals(plugin!.getSession(context), getSession(context));
        return plugin!.getUser(context);
      },
    }]);
    holder.plugin = server.plugin;
    assertEquals(server.plugin.name, "auth");
    const browser = await server.signIn();
    assertEquals(await browser.json("/own"), USERS["ada"]);
  }
});

Deno.test("Two apps accept only their own sessions", async () => {
  for (const strategy of STRATEGIES) {
    await using one = await startAuth({ session: { strategy } });
    await using two = await startAuth({
      session: {
        strategy,
        secret: "the secret of another app, not of this one",
      },
    });
    const browser = await one.signIn();
    const { value } = browser.cookies.get("app.session")!;
    const response = await fetch(`${two.origin}/me`, {
      headers: { cookie: `app.session=${value}` },
    });
    assertEquals((await response.json()).session, null);
  }
});
