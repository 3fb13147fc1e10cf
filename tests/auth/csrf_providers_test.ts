/**
 * CSRF checks of requests that an application's own provider authenticates.
 *
 * @module
 */

import { assert, assertEquals, assertThrows } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  getUser,
  optionalAuth,
  requireAuth,
  requireRoles,
  withAuth,
} from "@quartet/kit/auth";
import type { AuthProvider } from "@quartet/kit/auth";
import { byKey, SECRET, startAuth, USERS } from "./harness.ts";
import type { AuthServer } from "./harness.ts";

const ada = () => Promise.resolve(USERS["ada"]!);

/** Creates a provider that reads a header. */
function reading(
  id: string,
  find: (request: Request) => boolean,
  given: Partial<AuthProvider> = {},
): AuthProvider {
  return {
    id,
    name: id,
    type: "credentials",
    authorize: () => Promise.resolve(null),
    authenticate: (request) => find(request) ? ada() : undefined,
    ...given,
  };
}

const byCookie = (given?: Partial<AuthProvider>) =>
  reading(
    "cookie",
    ({ headers }) => headers.get("cookie")?.includes("sid=1") ?? false,
    given,
  );
const byBasic = (given?: Partial<AuthProvider>) =>
  reading(
    "basic",
    ({ headers }) => headers.get("authorization") === `Basic ${btoa("ada:x")}`,
    given,
  );
/** Authenticates as behind a proxy that checks client certificates. */
const byCertificate = (given?: Partial<AuthProvider>) =>
  reading("certificate", ({ headers }) => headers.has("x-client-cert"), given);
const byApiKey = () => apiKey({ validate: ada, queryParam: "key" });

const COOKIE = { cookie: "sid=1" };
const BASIC = { authorization: `Basic ${btoa("ada:x")}` };
const CERTIFICATE = { "x-client-cert": "CN=ada" };
const KEY = { "x-api-key": "k" };
const EVIL: Record<string, string>[] = [
  { "sec-fetch-site": "cross-site", origin: "https://evil.example" },
  { "sec-fetch-site": "same-site" },
  { origin: "https://evil.example" },
  { origin: "null" },
];

const ROUTES: readonly Route[] = [
  {
    path: "/guarded",
    config: { ...requireAuth() },
    loader: ({ context }) => getUser(context)!.id,
    action: ({ context }) => getUser(context)!.id,
  },
  {
    path: "/admin",
    config: { ...requireRoles(["admin"]) },
    action: () => "changed",
  },
  { path: "/wrapped", action: withAuth(({ auth }) => auth.getUser().id) },
  { path: "/optional", config: { ...optionalAuth() }, action: () => "changed" },
  {
    path: "/socket",
    config: { ...requireAuth() },
    handler(request) {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onopen = () => socket.close();
      return response;
    },
  },
];
const PATHS = ["/guarded", "/admin", "/wrapped", "/optional"];

/** Returns the status of a request. */
async function send(
  { origin }: AuthServer,
  path: string,
  headers: Record<string, string>,
  method = "POST",
): Promise<number> {
  const { status, body } = await fetch(origin + path, { method, headers });
  await body?.cancel();
  return status;
}

/** Whether a socket opens. */
async function opens(
  { origin }: AuthServer,
  headers: Record<string, string>,
  path = "/socket",
): Promise<boolean> {
  // With browser types loaded, `WebSocket` has no `headers` option.
  const options: object = { headers };
  const url = origin.replace("http", "ws") + path;
  const socket = new WebSocket(url, options as string[]);
  let isOpen = false;
  socket.onopen = () => void (isOpen = true);
  socket.onerror = () => {};
  await new Promise<void>((done) => socket.onclose = () => done());
  return isOpen;
}

Deno.test("CSRF checks apply to providers that read what browsers send automatically", async () => {
  for (
    const [provider, credentials] of [
      [byCookie(), COOKIE],
      [byBasic(), BASIC],
      [byCertificate(), CERTIFICATE],
      [byCookie({ isSentByBrowsers: true }), COOKIE],
      [byCookie({ isSentByBrowsers: undefined }), COOKIE],
      [byCookie({ isSentByBrowsers: () => true }), COOKIE],
      [byCookie({ isSentByBrowsers: () => undefined as never }), COOKIE],
    ] as const
  ) {
    await using server = await startAuth({ providers: [provider] }, ROUTES);
    for (const evil of EVIL) {
      const headers = { ...evil, ...credentials };
      for (const path of PATHS) {
        assertEquals(await send(server, path, headers), 403, path);
      }
      assertEquals(await send(server, "/guarded", headers, "GET"), 200);
      assertEquals(await opens(server, headers), false);
    }
    for (const own of [{}, { "sec-fetch-site": "same-origin" }]) {
      const headers = { ...own, ...credentials };
      for (const path of PATHS) {
        assertEquals(await send(server, path, headers), 200, path);
      }
      assertEquals(await opens(server, headers), true);
    }
    assertEquals(
      server.events.filter((event) =>
        event.type === "access_denied" && event.reason === "cross_origin"
      ).length,
      EVIL.length * (PATHS.length + 1),
    );
  }
});

Deno.test("isSentByBrowsers false exempts a provider from CSRF checks", async () => {
  for (
    const isSentByBrowsers of [
      false,
      () => false,
      ({ headers }: Request) => !headers.has("x-client-cert"),
    ]
  ) {
    await using server = await startAuth({
      providers: [byCertificate({ isSentByBrowsers })],
    }, ROUTES);
    for (const evil of EVIL) {
      const headers = { ...evil, ...CERTIFICATE };
      for (const path of PATHS) {
        assertEquals(await send(server, path, headers), 200, path);
      }
      assertEquals(await opens(server, headers), true);
      // Without credentials the request is anonymous, so it's checked.
      assertEquals(await send(server, "/optional", evil), 403);
    }
  }
});

Deno.test("An API key in a header passes CSRF checks, one in the URL doesn't", async () => {
  await using server = await startAuth({ providers: [byApiKey()] }, ROUTES);
  for (const evil of EVIL) {
    assertEquals(await send(server, "/guarded", { ...evil, ...KEY }), 200);
    assertEquals(await opens(server, { ...evil, ...KEY }), true);
    assertEquals(await send(server, "/guarded?key=k", evil), 403);
    assertEquals(await send(server, "/guarded?%6bey=k", evil), 403);
    assertEquals(
      await send(server, "/guarded?key=k", { ...evil, ...KEY }),
      403,
    );
    assertEquals(await opens(server, evil, "/socket?key=k"), false);
  }
  assertEquals(await send(server, "/guarded?key=k", {}), 200);
});

Deno.test("CSRF checks depend on the provider that authenticated the request", async () => {
  await using server = await startAuth({
    providers: [byApiKey(), byBasic(), byCookie()],
  }, ROUTES);
  await using other = await startAuth({
    providers: [byCookie(), byBasic(), byApiKey()],
  }, ROUTES);
  for (const evil of EVIL) {
    for (
      const [credentials, first, last] of [
        [COOKIE, 403, 403],
        [BASIC, 403, 403],
        [KEY, 200, 200],
        [{ ...COOKIE, ...BASIC }, 403, 403],
        // The cookie provider is first, so it authenticates the request.
        [{ ...COOKIE, ...KEY }, 200, 403],
        [{ ...BASIC, ...KEY }, 200, 403],
      ] as const
    ) {
      const headers = { ...evil, ...credentials };
      assertEquals(await send(server, "/guarded", headers), first);
      assertEquals(await send(other, "/guarded", headers), last);
    }
  }
});

Deno.test("createAuthPlugin() rejects a provider with parts of the wrong type", () => {
  const create = (given: Record<string, unknown>) => () =>
    createAuthPlugin({
      session: { secret: SECRET },
      providers: [byCookie(given)],
    });
  for (const value of [null, 0, "false", "no", {}, []]) {
    const error = assertThrows(create({ isSentByBrowsers: value }), TypeError);
    assert(
      error.message.startsWith(
        'Cannot create auth plugin: isSentByBrowsers of provider "cookie" must be a boolean or a function, received ',
      ),
      error.message,
    );
  }
  for (
    const given of [
      { authenticate: true },
      { handleCallback: "x" },
      { getAuthorizationUrl: {} },
      { issuer: 1 },
      { issuer: ["https://a.example"] },
      { isIssuerRequired: "yes" },
    ]
  ) {
    const [name] = Object.keys(given);
    assertThrows(create(given), TypeError, `${name} of provider "cookie"`);
  }
});

Deno.test("A cross-site form is refused, also with a valid key in its URL", async () => {
  await using server = await startAuth({ providers: [byKey()] }, [{
    path: "/change",
    config: { ...requireAuth() },
    action: () => "changed",
  }]);
  const post = async (path: string, headers: Record<string, string>) => {
    const browser = server.browser();
    const { status, body } = await browser.ask(path, {
      method: "POST",
      headers,
    });
    await body?.cancel();
    return status;
  };
  const evil = { origin: "https://evil.example" };
  assertEquals(await post("/change?key=k-815", evil), 403);
  assertEquals(await post("/change?key=k-815", {}), 200);
  assertEquals(await post("/change", { ...evil, "x-api-key": "k-815" }), 200);
});
