/**
 * OAuth sign-in from the user's view: an app, a provider and a browser.
 *
 * @module
 */

import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Route, RouteArgs } from "@quartet/kit/app";
import {
  getAuth,
  getOAuthUrl,
  handleOAuthCallback,
  presetChat,
  presetCodeHost,
  presetIdentity,
} from "@quartet/kit/auth";
import type { AuthEvent } from "@quartet/kit/auth";
import type { Browser } from "./browser.ts";
import type { AuthServer, TestConfig } from "./harness.ts";
import { startAuth, STRATEGIES } from "./harness.ts";
import { FAULTS, GUILD, PROVIDER_TEXT } from "../../examples/hillside/mod.ts";
import type { LocalProvider } from "./oauth_setup.ts";
import { click, CLIENT, startProvider } from "./oauth_setup.ts";

const IDS = ["github", "google", "discord"];

function redirectUriOf({ request, params }: RouteArgs): string {
  return new URL(`/auth/${params["id"]}/callback`, request.url).href;
}

/** Routes as applications write them. */
const ROUTES: readonly Route[] = [
  {
    path: "/auth/:id/start",
    loader: (args) =>
      Response.redirect(
        getOAuthUrl(args.context, args.params["id"]!, redirectUriOf(args)),
        303,
      ),
  },
  {
    path: "/auth/:id/callback",
    async loader(args) {
      const { request, context, params } = args;
      const { searchParams } = new URL(request.url);
      const code = searchParams.get("code");
      const state = searchParams.get("state");
      if (code === null || state === null) {
        return new Response("code and state are missing", { status: 400 });
      }
      const redirectUri = redirectUriOf(args);
      await handleOAuthCallback(context, params["id"]!, {
        code,
        state,
        redirectUri,
      });
      // Thrown, as guards and helpers do.
      throw new Response(null, { status: 303, headers: { location: "/me" } });
    },
  },
];

/** Starts the app with all presets. */
function startApp(
  local: LocalProvider,
  config: TestConfig = {},
): Promise<AuthServer> {
  return startAuth({
    providers: [
      presetCodeHost(local.github),
      presetIdentity(local.google),
      presetChat({ ...local.discord, guildId: GUILD }),
    ],
    ...config,
  }, ROUTES);
}

/** Begins a sign-in and clicks. Returns the path of the final redirect. */
async function visit(
  browser: Browser,
  id: string,
  login = "ada",
): Promise<string> {
  const response = await browser.ask(`/auth/${id}/start`);
  await response.body?.cancel();
  assertEquals(response.status, 303);
  const { code, state } = await click(
    response.headers.get("location")!,
    login,
  );
  return `/auth/${id}/callback?${new URLSearchParams({ code, state })}`;
}

/** Returns a response's status and the code of its error. */
async function outcome(response: Response): Promise<[number, string?]> {
  const text = await response.text();
  assert(!text.includes(PROVIDER_TEXT), text);
  return response.status === 303
    ? [303]
    : [response.status, JSON.parse(text).error.code];
}

for (const strategy of STRATEGIES) {
  Deno.test(`All presets sign in with the strategy ${strategy}`, async () => {
    await using local = startProvider();
    await using app = await startApp(local, { session: { strategy } });
    for (const id of IDS) {
      const browser = app.browser();
      const path = await visit(browser, id);
      assertEquals(await outcome(await browser.ask(path)), [303]);
      // Only the session cookie remains, although the response was thrown.
      assertEquals([...browser.cookies.keys()], ["app.session"]);
      const { session, user } = await browser.json("/me");
      assertEquals([session.provider, session.userId], [id, "1815"]);
      assertEquals([user.name, user.email], [
        "Ada Lovelace",
        "ada@example.com",
      ]);
      assertEquals(app.events.slice(-2).map(({ type }) => type), [
        "oauth_started",
        "sign_in",
      ]);
    }
    assertEquals(app.errors, []);
  });
}

Deno.test("Tabs of one browser can sign in in any order", async () => {
  await using local = startProvider();
  await using app = await startApp(local);
  const browser = app.browser();
  const paths = [
    await visit(browser, "github"),
    await visit(browser, "google", "grace"),
    await visit(browser, "github", "grace"),
  ];
  assertEquals(browser.cookies.size, 3);
  for (const path of [paths[1]!, paths[2]!, paths[0]!]) {
    assertEquals(await outcome(await browser.ask(path)), [303]);
  }
  assertEquals([...browser.cookies.keys()], ["app.session"]);
  assertEquals((await browser.json("/me")).session.userId, "1815");
});

Deno.test("Only one of 20 concurrent callbacks with the same state signs in", async () => {
  await using local = startProvider();
  await using app = await startApp(local);
  const browser = app.browser();
  const path = await visit(browser, "github");
  const cookie = Array.from(
    browser.cookies,
    ([name, { value }]) => `${name}=${value}`,
  ).join("; ");
  const outcomes = await Promise.all(
    Array.from(
      { length: 20 },
      async () =>
        (await outcome(
          await app.browser().ask(path, { headers: { cookie } }),
        )).join(),
    ),
  );
  assertEquals(outcomes.filter((text) => text === "303").length, 1);
  assertEquals(
    outcomes.filter((text) => text === "400,OAUTH_STATE_MISMATCH").length,
    19,
  );
});

Deno.test("An invalid callback fails the sign-in, and the log says why", async () => {
  await using local = startProvider();
  const logged: string[] = [];
  using _ = capture(logged);
  await using app = await startApp(local, { debug: true });
  const refused: [number, string] = [400, "OAUTH_STATE_MISMATCH"];
  const reasons: string[] = [];
  const values: string[] = [];

  async function attempt(
    change: (path: string, browser: Browser) => string,
    browser = app.browser(),
  ): Promise<void> {
    const path = await visit(browser, "github");
    const { searchParams } = new URL(path, app.origin);
    values.push(searchParams.get("code")!, searchParams.get("state")!);
    values.push(...Array.from(browser.cookies.values(), ({ value }) => value));
    const response = await browser.ask(change(path, browser));
    assertEquals(await outcome(response), refused);
    assertEquals((await browser.json("/me")).session, null);
    const event = app.events.at(-1) as AuthEvent & { reason?: string };
    assertEquals(event.type, "sign_in_failed");
    reasons.push(event.reason!);
  }

  await attempt((path) => path.replace(/state=[^&]*/, "state="));
  await attempt((path) => path.replace(/state=./, "state=*"));
  await attempt((path, { cookies }) => (cookies.clear(), path));
  await attempt((path) => path.replace("github", "google"));
  await attempt((path) => (app.clock.pass(600), path));
  await attempt((path) => path.replace(/code=[^&]*/, "code="));
  assertEquals(reasons.map((reason) => reason.slice(0, 40)), [
    "the state is not one that we make",
    "the state is not one that we make",
    "the browser has no cookie for the state:",
    'the sign-in was begun with provider "git',
    "the sign-in was begun 600 s ago, and onl",
    "the code must be a string of 1 to 8192 v",
  ]);

  // The log contains no usable secrets.
  const log = logged.join("\n") + JSON.stringify(app.events);
  assertMatch(log, /the state is not one that we make/);
  for (const value of [...values, CLIENT.secret]) assert(!log.includes(value));
  assertEquals(local.server.seen.length, 0);
});

/** Captures console output. */
function capture(lines: string[]): Disposable {
  const { log } = console;
  console.log = (...args) => void lines.push(args.join(" "));
  return {
    [Symbol.dispose]() {
      console.log = log;
    },
  };
}

Deno.test("A failed sign-in removes its cookie and keeps the existing session", async () => {
  await using local = startProvider();
  await using app = await startApp(local);
  const browser = app.browser();
  await outcome(await browser.ask(await visit(browser, "google")));
  const before = browser.cookies.get("app.session");

  const path = await visit(browser, "discord", "grace");
  assertEquals(browser.cookies.size, 2);
  assertEquals(await outcome(await browser.ask(path)), [
    401,
    "INVALID_CREDENTIALS",
  ]);
  assertEquals([...browser.cookies.keys()], ["app.session"]);
  assertEquals(browser.cookies.get("app.session"), before);
  assertEquals((await browser.json("/me")).session.provider, "google");
  assertEquals(app.events.at(-1), {
    time: new Date(app.clock.now()),
    type: "sign_in_failed",
    provider: "discord",
    code: "INVALID_CREDENTIALS",
    reason: "the user is not a member of the guild that guildId names",
  });
});

Deno.test("After an OAuth sign-in, getCookieHeader() returns the session's cookie", async () => {
  await using local = startProvider();
  await using app = await startAuth(
    { providers: [presetCodeHost(local.github)] },
    [ROUTES[0]!, {
      ...ROUTES[1]!,
      async loader(args) {
        const { searchParams } = new URL(args.request.url);
        await handleOAuthCallback(args.context, "github", {
          code: searchParams.get("code")!,
          state: searchParams.get("state")!,
          redirectUri: redirectUriOf(args),
        });
        return getAuth(args.context).getCookieHeader();
      },
    }],
  );
  const browser = app.browser();
  const header: string = await browser.json(await visit(browser, "github"));
  const { value } = browser.cookies.get("app.session")!;
  assertEquals(header.split(";")[0], `app.session=${value}`);
});

Deno.test("A redirect URI set on the provider needs no repetition in calls", async () => {
  await using local = startProvider();
  const redirectUri = CLIENT.redirectUris[0]!;
  await using app = await startAuth(
    { providers: [presetCodeHost({ ...local.github, redirectUri })] },
    [
      {
        path: "/start",
        loader: ({ context }) => getOAuthUrl(context, "github"),
      },
      {
        path: "/back",
        async loader({ request, context }) {
          const { searchParams } = new URL(request.url);
          const { userId } = await handleOAuthCallback(context, "github", {
            code: searchParams.get("code")!,
            state: searchParams.get("state")!,
          });
          return userId;
        },
      },
    ],
  );
  const browser = app.browser();
  const { code, state } = await click(await browser.json("/start"), "ada");
  const query = new URLSearchParams({ code, state });
  assertEquals(await browser.json(`/back?${query}`), "1815");
});

Deno.test("An error thrown by profile() is a logged 500 and emits no event with its text", async () => {
  await using local = startProvider();
  await using app = await startAuth({
    providers: [presetCodeHost({
      ...local.github,
      profile(_profile, { accessToken }) {
        throw new Error(`no row for ${accessToken}`);
      },
    })],
  }, ROUTES);
  const browser = app.browser();
  const path = await visit(browser, "github");
  assertEquals(await outcome(await browser.ask(path)), [500, "INTERNAL_ERROR"]);
  assertMatch(String(app.errors), /^Error: no row for /);
  const last = app.events.at(-1)!;
  assertEquals(last, {
    time: last.time,
    type: "sign_in_failed",
    provider: "github",
    code: "INTERNAL_ERROR",
  });
});

Deno.test("A Response thrown by profile() is sent", async () => {
  await using local = startProvider();
  await using app = await startAuth({
    providers: [presetCodeHost({
      ...local.github,
      profile() {
        throw new Response("ask us for an invitation", { status: 403 });
      },
    })],
  }, ROUTES);
  const browser = app.browser();
  const response = await browser.ask(await visit(browser, "github"));
  assertEquals(
    [response.status, await response.text()],
    [403, "ask us for an invitation"],
  );
  assertEquals(browser.cookies.has("app.session"), false);
});

Deno.test("The text of a provider's error isn't shown to users", async () => {
  await using local = startProvider();
  await using app = await startApp(local);
  for (const fault of FAULTS) {
    if (fault === "stalled" || fault === "silent") continue;
    for (
      const path of ["/github/login/oauth/access_token", "/github/api/v3/user"]
    ) {
      local.server.faults.set(path, fault);
      const browser = app.browser();
      const response = await browser.ask(await visit(browser, "github"));
      assertEquals(await outcome(response), [502, "OAUTH_FAILED"]);
      assertEquals(browser.cookies.size, 0);
      local.server.faults.clear();
    }
  }
  // The handler threw an error with its own response.
  assertEquals(app.errors, []);
});

Deno.test("signIn() rejects OAuth providers", async () => {
  await using local = startProvider();
  await using app = await startApp(local);
  const user = { id: "1815", email: "ada@example.com", roles: ["admin"] };
  for (const id of IDS) {
    for (const body of [user, { user }, { profile: user }, {}]) {
      const response = await app.browser().ask("/sign-in", {
        body: { ...body, provider: id },
      });
      const [status] = await outcome(response);
      assert(status === 400 || status === 401, String(status));
      assertEquals(response.headers.getSetCookie(), []);
    }
  }
});

Deno.test("An unknown provider can't begin or finish a sign-in", async () => {
  await using local = startProvider();
  await using app = await startApp(local);
  for (
    const path of [
      "/auth/nobody/start",
      "/auth/__proto__/start",
      "/auth/constructor/callback?code=c&state=s",
    ]
  ) {
    const response = await app.browser().ask(path);
    assertEquals(await outcome(response), [400, "UNKNOWN_PROVIDER"]);
    assertEquals(response.headers.getSetCookie(), []);
  }
});
