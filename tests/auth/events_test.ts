/**
 * Events that `onEvent` receives: everything an audit log needs, once, and no
 * secret.
 */

import { assertEquals } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import {
  apiKey,
  getAuth,
  getOAuthUrl,
  oauth,
  optionalAuth,
  requireAuth,
  requireRoles,
} from "@quartet/kit/auth";
import type { AuthEvent, User } from "@quartet/kit/auth";
import { byName, startAuth, STRATEGIES } from "./harness.ts";
import type { AuthServer } from "./harness.ts";

type WithoutTime<E> = E extends unknown ? Omit<E, "time"> : never;
type Occurrence = WithoutTime<AuthEvent>;

/**
 * Returns a function that returns the events since its last call, without
 * times.
 */
function listener({ events, clock }: Pick<AuthServer, "events" | "clock">) {
  let seen = 0;
  return (): Occurrence[] => {
    const news = events.slice(seen);
    seen = events.length;
    return news.map(({ time, ...rest }: AuthEvent) => {
      assertEquals(time, new Date(clock.now()));
      return rest as Occurrence;
    });
  };
}

const ROUTES: readonly Route[] = [
  { path: "/in", config: { ...requireAuth() }, action: () => "in" },
  { path: "/root", config: { ...requireRoles(["root"]) }, loader: () => "in" },
  {
    path: "/guest",
    config: { ...optionalAuth() },
    action: ({ context }) => getAuth(context).isAuthenticated(),
  },
  {
    path: "/start",
    loader: ({ context }) =>
      getOAuthUrl(context, "somewhere", "https://app.example/callback"),
  },
];

Deno.test("onEvent receives each step of a session once", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, updateAge: 60 },
    }, ROUTES);
    const told = listener(server);
    const browser = server.browser();
    const ask = async (...args: Parameters<typeof browser.ask>) => {
      await (await browser.ask(...args)).text();
      return told();
    };
    assertEquals(await ask("/sign-in", { body: { user: "mallory" } }), [
      {
        type: "sign_in_failed",
        provider: "credentials",
        code: "INVALID_CREDENTIALS",
      },
    ]);
    assertEquals(await ask("/sign-in", { body: { user: "bob" } }), [
      { type: "sign_in", provider: "credentials", userId: "2" },
    ]);
    assertEquals(await ask("/me"), []);
    server.clock.pass(61);
    assertEquals(await ask("/me"), [
      { type: "session_refreshed", userId: "2" },
    ]);
    assertEquals(await ask("/sign-out", { method: "POST" }), [
      { type: "sign_out", userId: "2" },
    ]);
    assertEquals(await ask("/sign-out", { method: "POST" }), []);
    if (strategy === "jwt") continue;
    await ask("/sign-in", { body: { user: "bob" } });
    assertEquals(await server.plugin.revokeSessions("2"), 1);
    assertEquals(told(), [
      { type: "sessions_revoked", userId: "2", count: 1 },
    ]);
  }
});

Deno.test("Guards emit access_denied with the reason and the user", async () => {
  await using server = await startAuth({}, ROUTES);
  const told = listener(server);
  const browser = server.browser();
  const foreign = {
    method: "POST",
    headers: { "sec-fetch-site": "cross-site" },
  };
  const ask = async (...args: Parameters<typeof browser.ask>) => {
    await (await browser.ask(...args)).text();
    return told();
  };
  assertEquals(await ask("/in", { method: "POST" }), [
    { type: "access_denied", reason: "anonymous" },
  ]);
  assertEquals(await ask("/guest", foreign), [
    { type: "access_denied", reason: "cross_origin" },
  ]);
  await ask("/sign-in", { body: { user: "bob" } });
  assertEquals(await ask("/in", { method: "POST" }), []);
  assertEquals(await ask("/in", foreign), [
    { type: "access_denied", reason: "cross_origin", userId: "2" },
  ]);
  assertEquals(await ask("/root"), [
    { type: "access_denied", reason: "roles", userId: "2" },
  ]);
});

Deno.test("A rejected session emits session_rejected with the reason", async () => {
  for (const strategy of STRATEGIES) {
    let isWelcome = true;
    await using server = await startAuth({
      session: { strategy, maxAge: 100, updateAge: 100 },
      providers: [byName(), apiKey({ validate: (): User | null => null })],
      callbacks: { onSessionValidate: () => isWelcome },
    });
    const told = listener(server);
    const { value } = (await server.signIn()).cookies.get("app.session")!;
    told();
    const reasonOf = async (headers: Record<string, string>) => {
      const response = await fetch(`${server.origin}/me`, { headers });
      await response.body?.cancel();
      return told().map((event) =>
        event.type === "session_rejected" ? event.reason : event.type
      );
    };
    const cookie = `app.session=${value}`;
    assertEquals(await reasonOf({}), []);
    assertEquals(await reasonOf({ cookie }), []);
    assertEquals(await reasonOf({ cookie: `${cookie}x` }), ["malformed"]);
    assertEquals(await reasonOf({ authorization: "Bearer x" }), ["malformed"]);
    assertEquals(
      await reasonOf({ cookie: `${cookie}; app.session=x` }),
      ["ambiguous"],
    );
    assertEquals(await reasonOf({ "x-api-key": "k" }), ["invalid_key"]);
    isWelcome = false;
    assertEquals(await reasonOf({ cookie }), ["refused"]);
    isWelcome = true;
    if (strategy !== "jwt") {
      await server.plugin.revokeSessions("1");
      told();
      assertEquals(await reasonOf({ cookie }), ["revoked"]);
      continue;
    }
    server.clock.pass(100);
    assertEquals(await reasonOf({ cookie }), ["expired"]);
  }
});

Deno.test("onEvent receives oauth_started, and claim_ignored for a protected claim", async () => {
  await using server = await startAuth({
    providers: [
      byName(),
      oauth({
        id: "somewhere",
        name: "Somewhere",
        clientId: "id",
        clientSecret: "secret",
        authorizationUrl: "https://somewhere.example/authorize",
        tokenUrl: "https://somewhere.example/token",
        userInfoUrl: "https://somewhere.example/me",
      }),
    ],
    callbacks: { jwt: ({ token }) => ({ ...token, sub: "9" }) },
  }, ROUTES);
  const told = listener(server);
  const browser = server.browser();
  await (await browser.ask("/start")).text();
  assertEquals(told(), [{ type: "oauth_started", provider: "somewhere" }]);
  await (await browser.ask("/sign-in", { body: { user: "bob" } })).text();
  assertEquals(told(), [
    { type: "claim_ignored", name: "sub" },
    { type: "sign_in", provider: "credentials", userId: "2" },
  ]);
});
