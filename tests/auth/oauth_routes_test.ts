/**
 * The routes of `oauthRoutes`, and return addresses.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import {
  createApp,
  currentContext,
  toHono,
  toMiddleware,
  withPlugins,
} from "@quartet/kit/app";
import {
  type AuthConfig,
  createAuthPlugin,
  discord,
  getAuth,
  getOAuthUrl,
  getUser,
  github,
  google,
  handleOAuthCallback,
  mock,
} from "@quartet/kit/auth";
import { Hono } from "hono";
import { type Browser, createBrowser } from "./browser.ts";
import { SECRET, startAuth } from "./harness.ts";
import { click, type LocalProvider, startProvider } from "./oauth_setup.ts";

const PAGES = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

function createPlugin(
  local: LocalProvider,
  oauthRoutes: AuthConfig["oauthRoutes"] = true,
) {
  return createAuthPlugin({
    session: { secret: SECRET },
    providers: [github(local.github), google(local.google), mock()],
    oauthRoutes,
  });
}

/** Signs in, and returns the path that the browser is sent to in the end. */
async function visit(browser: Browser, start: string): Promise<string> {
  const away = await browser.ask(start);
  await away.body?.cancel();
  assertEquals(away.status, 303);
  const { code, state, redirectUri } = await click(
    away.headers.get("location")!,
    "ada",
  );
  const { pathname } = new URL(redirectUri);
  const query = new URLSearchParams({ code, state });
  const back = await browser.ask(`${pathname}?${query}`);
  assertEquals([back.status, await back.text()], [303, ""]);
  return back.headers.get("location")!;
}

/** Servers with the plugin and a page `/me`, each on a port. */
const SERVERS: Readonly<
  Record<string, (local: LocalProvider) => Promise<AsyncDisposable & Origin>>
> = {
  "the host": (local) => {
    const app = createApp({ plugins: [createPlugin(local)] });
    app.route({ path: "/me", loader: ({ context }) => getUser(context) });
    return listen((request) => app.fetch(request));
  },
  "Hono": (local) => {
    const app = new Hono();
    app.use(toHono(createPlugin(local)));
    app.get("/me", (c) => c.json(getUser(c)));
    return listen((request) => app.fetch(request));
  },
  "withPlugins()": (local) => {
    const { fetch } = withPlugins(
      [createPlugin(local)],
      () => Response.json(getUser(currentContext())),
    );
    return listen((request) => fetch(request));
  },
  "toMiddleware()": (local) => {
    const kit = toMiddleware(createPlugin(local));
    const rest = () => Response.json(getUser(currentContext()));
    return listen((request) => kit(request, undefined, rest));
  },
};

interface Origin {
  readonly origin: string;
}

function listen(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen() {} },
    fetch,
  );
  return Promise.resolve({
    origin: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}

for (const [name, start] of Object.entries(SERVERS)) {
  Deno.test(`oauthRoutes signs in with all OAuth providers, on ${name}`, async () => {
    await using local = startProvider();
    await using server = await start(local);
    for (const id of ["github", "google"]) {
      const browser = createBrowser(server.origin);
      const returnTo = encodeURIComponent("/orders/7?tab=notes");
      assertEquals(
        await visit(browser, `/auth/${id}?returnTo=${returnTo}`),
        "/orders/7?tab=notes",
      );
      assertEquals([...browser.cookies.keys()], ["app.session"]);
      assertEquals((await browser.json("/me")).email, "ada@example.com");
    }
  });
}

Deno.test("A return address leads only to this server", async () => {
  await using local = startProvider();
  await using server = await SERVERS["the host"]!(local);
  const wrong = [
    "",
    "?returnTo=",
    "?returnTo=account",
    "?returnTo=https://evil.example",
    "?returnTo=//evil.example",
    "?returnTo=/%5Cevil.example",
    "?returnTo=/%09/evil.example",
    "?returnTo=/.//evil.example",
    "?returnTo=javascript:alert(1)",
    `?returnTo=/${"a".repeat(512)}`,
  ];
  for (const query of wrong) {
    const browser = createBrowser(server.origin);
    assertEquals(await visit(browser, `/auth/github${query}`), "/", query);
  }
  const longest = `/${"a".repeat(511)}`;
  const browser = createBrowser(server.origin);
  assertEquals(
    await visit(browser, `/auth/github?returnTo=${longest}`),
    longest,
  );
});

Deno.test("Cookies of sign-ins with long return addresses fit into 6 KB", async () => {
  await using local = startProvider();
  await using server = await SERVERS["the host"]!(local);
  const browser = createBrowser(server.origin);
  const size = () =>
    Array.from(
      browser.cookies,
      ([name, { value }]) => name.length + value.length,
    )
      .reduce((sum, length) => sum + length, 0);
  // Each takes six characters in a URL, and two in JSON.
  const longest = encodeURIComponent(`/${'"'.repeat(511)}`);
  for (let i = 0; i < 10; i++) {
    const away = await browser.ask(`/auth/github?returnTo=${longest}`);
    await away.body?.cancel();
    assert(size() <= 6 * 1024, `${size()}`);
  }
  assertEquals(browser.cookies.size, 3);
  assertEquals(
    await visit(browser, `/auth/github?returnTo=${longest}`),
    `/${'"'.repeat(511)}`,
  );

  const other = createBrowser(server.origin);
  for (let i = 0; i < 10; i++) {
    const away = await other.ask("/auth/github?returnTo=/orders/7");
    await away.body?.cancel();
  }
  assertEquals(other.cookies.size, 8);
});

Deno.test("oauthRoutes accepts another path, origin and home", async () => {
  await using local = startProvider();
  const app = createApp({
    plugins: [
      createPlugin(local, {
        path: "/sign-in/with",
        origin: "https://app.example",
        home: "/account",
      }),
    ],
  });
  const response = await app.fetch(
    new Request("http://10.0.0.1/sign-in/with/github"),
  );
  const url = new URL(response.headers.get("location")!);
  assertEquals(
    url.searchParams.get("redirect_uri"),
    "https://app.example/sign-in/with/github/callback",
  );
  const none = await app.fetch(new Request("http://10.0.0.1/auth/github"));
  assertEquals(none.status, 404);
  // Only OAuth providers have routes.
  const mocked = await app.fetch(
    new Request("http://10.0.0.1/sign-in/with/mock"),
  );
  assertEquals(mocked.status, 404);
});

Deno.test("A provider's own redirectUri is used by its routes", async () => {
  await using local = startProvider();
  const redirectUri = "http://127.0.0.1/auth/github/callback";
  const plugin = createAuthPlugin({
    session: { secret: SECRET },
    providers: [github({ ...local.github, redirectUri })],
    oauthRoutes: { home: "/account" },
  });
  const app = createApp({ plugins: [plugin] });
  const browser = createBrowser("http://10.0.0.1", (input, init) =>
    app.fetch(
      new Request(input, init),
    ));
  assertEquals(await visit(browser, "/auth/github"), "/account");
});

Deno.test("A failed sign-in of oauthRoutes gets a page, or the response of onError", async () => {
  await using local = startProvider();
  await using server = await SERVERS["the host"]!(local);
  const browser = createBrowser(server.origin);
  const failed = await browser.ask("/auth/github/callback?code=c&state=s", {
    headers: { accept: PAGES },
  });
  assertEquals(failed.status, 400);
  assertMatch(await failed.text(), /<p>This sign-in was not begun in this br/);

  const own = createApp({
    plugins: [
      createPlugin(local, {
        onError: ({ code }, context) => {
          const returnTo = getAuth(context).returnTo ?? "none";
          return new Response(`${code} ${returnTo}`, { status: 418 });
        },
      }),
    ],
  });
  await using listening = await listen((request) => own.fetch(request));
  const other = createBrowser(listening.origin);
  const away = await other.ask("/auth/github?returnTo=/orders");
  await away.body?.cancel();
  const url = new URL(away.headers.get("location")!);
  const state = url.searchParams.get("state")!;
  const refused = await other.ask(
    `/auth/github/callback?error=access_denied&state=${state}`,
  );
  assertEquals(refused.status, 418);
  // The return address is still known, for another attempt.
  assertEquals(await refused.text(), "INVALID_CREDENTIALS /orders");
  // The cookie of the attempt is gone, though onError has answered.
  assertEquals(other.cookies.size, 0);
});

Deno.test("A cancelled sign-in of oauthRoutes gets a page with a link to home", async () => {
  await using local = startProvider();
  const app = createApp({ plugins: [createPlugin(local, { home: "/start" })] });
  await using server = await listen((request) => app.fetch(request));
  const browser = createBrowser(server.origin);
  const away = await browser.ask("/auth/github");
  await away.body?.cancel();
  const url = new URL(away.headers.get("location")!);
  const state = url.searchParams.get("state")!;
  const response = await browser.ask(
    `/auth/github/callback?error=access_denied&state=${state}`,
    { headers: { accept: PAGES, referer: "https://github.example/login" } },
  );
  assertEquals(response.status, 401);
  const page = await response.text();
  assertMatch(page, /<p>The sign-in was cancelled<\/p>/);
  assertMatch(page, /<a href="\/start">Back<\/a>/);
  assertEquals(browser.cookies.size, 0);
});

Deno.test("getOAuthUrl() keeps a return address for custom routes", async () => {
  await using local = startProvider();
  await using app = await startAuth({ providers: [discord(local.discord)] }, [
    {
      path: "/in",
      loader: ({ context }) => {
        const { origin, searchParams } = context.url;
        const returnTo = searchParams.get("returnTo");
        const redirectUri = `${origin}/auth/discord/callback`;
        return getOAuthUrl(context, "discord", redirectUri, { returnTo });
      },
    },
    {
      path: "/auth/discord/callback",
      async loader({ context }) {
        const { origin, pathname, searchParams } = context.url;
        assertEquals(getAuth(context).returnTo, null);
        await handleOAuthCallback(context, "discord", {
          code: searchParams.get("code"),
          state: searchParams.get("state"),
          redirectUri: origin + pathname,
        });
        return getAuth(context).returnTo;
      },
    },
  ]);
  for (const [wanted, found] of [["/orders", "/orders"], ["//evil", null]]) {
    const browser = app.browser();
    const url = await browser.json(`/in?returnTo=${wanted}`);
    const { code, state } = await click(url, "ada");
    const query = new URLSearchParams({ code, state });
    assertEquals(await browser.json(`/auth/discord/callback?${query}`), found);
  }
  assertEquals(app.errors, []);
});

Deno.test("oauthRoutes rejects invalid settings and says why", () => {
  const options = { clientId: "id", clientSecret: "secret" };
  const session = { secret: SECRET };
  const create = (oauthRoutes: unknown, id = "github") =>
    createAuthPlugin({
      session,
      providers: [github({ ...options, id })],
      oauthRoutes: oauthRoutes as boolean,
    });
  const wrong: [setting: unknown, message: string][] = [
    ["/auth", 'oauthRoutes must be an object, received "/auth"'],
    [{ path: "auth" }, 'oauthRoutes.path must be a path such as "/auth"'],
    [{ path: "/:id" }, 'oauthRoutes.path must be a path such as "/auth"'],
    [
      { origin: "https://app.example/" },
      'oauthRoutes.origin must be an origin such as "https://app.example"',
    ],
    [
      { home: "//evil.example" },
      'oauthRoutes.home must be a path such as "/account"',
    ],
    [{ onerror() {} }, 'unknown option "oauthRoutes.onerror"'],
  ];
  for (const [setting, message] of wrong) {
    assertThrows(
      () => create(setting),
      TypeError,
      `Cannot create auth plugin: ${message}`,
    );
  }
  assertThrows(
    () => create(true, "git/hub"),
    TypeError,
    'Cannot create auth plugin: the id of an OAuth provider must be letters, digits and the characters _ . - for a route, received "git/hub"',
  );
  assertThrows(
    () => createAuthPlugin({ session, providers: [], oauthRoutes: true }),
    TypeError,
    "Cannot create auth plugin: oauthRoutes needs an OAuth provider in providers, such as github(), received none",
  );
  assert(create(false).routes?.length === 0);
});

Deno.test("oauthRoutes rejects a redirectUri that isn't its callback", () => {
  const create = (redirectUri: string, path = "/login") =>
    createAuthPlugin({
      session: { secret: SECRET },
      providers: [github({ clientId: "a", clientSecret: "b", redirectUri })],
      oauthRoutes: { path },
    });
  const wrong = [
    "http://127.0.0.1:1/other",
    "http://127.0.0.1:1/auth/github/callback",
    "http://127.0.0.1:1/login/google/callback",
    "http://127.0.0.1:1/other?/login/github/callback",
    "http://127.0.0.1:1/login/github/callback/",
  ];
  for (const redirectUri of wrong) {
    assertThrows(
      () => create(redirectUri),
      TypeError,
      `Cannot create auth plugin: redirectUri of provider github must end in /login/github/callback, the callback of oauthRoutes, received "${redirectUri}"`,
    );
  }
  create("http://127.0.0.1:1/login/github/callback");
  // A proxy may remove a prefix.
  create("https://app.example/shop/login/github/callback");
});
