/**
 * The parameters of an OAuth callback: `iss` (RFC 9207) and `error`.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import type { Route, RouteArgs } from "@quartet/kit/app";
import {
  getOAuthUrl,
  handleOAuthCallback,
  oauth,
  presetChat,
  presetCodeHost,
  presetIdentity,
} from "@quartet/kit/auth";
import type { AuthProvider, OAuthOptions } from "@quartet/kit/auth";
import { captureErrors } from "../helpers.ts";
import type { Browser } from "./browser.ts";
import type { AuthServer } from "./harness.ts";
import { startAuth } from "./harness.ts";
import { scriptedFetch } from "./oauth_setup.ts";

function redirectUriOf({ params, request }: RouteArgs): string {
  return new URL(`/auth/${params["id"]}/callback`, request.url).href;
}

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
      const { searchParams } = args.context.url;
      const { userId } = await handleOAuthCallback(
        args.context,
        args.params["id"]!,
        {
          code: searchParams.get("code"),
          state: searchParams.get("state"),
          iss: searchParams.get("iss"),
          error: searchParams.get("error"),
          error_description: searchParams.get("error_description"),
          redirectUri: redirectUriOf(args),
        },
      );
      return { userId };
    },
  },
];

/** Creates a provider on its own host that records its requests. */
function providerAt(host: string, given: Partial<OAuthOptions> = {}) {
  const requests: Request[] = [];
  const id = host.split(".")[0]!;
  const answers = {
    "/token": { access_token: "at" },
    "/me": { sub: `user of ${id}` },
  };
  const provider = oauth({
    id,
    name: id,
    clientId: "id",
    clientSecret: "secret",
    authorizationUrl: `https://${host}/realms/x/authorize?prompt=login`,
    tokenUrl: `https://${host}/token`,
    userInfoUrl: `https://${host}/me`,
    fetch: scriptedFetch(answers, requests),
    ...given,
  });
  return { provider, requests };
}

function start(...providers: AuthProvider[]): Promise<AuthServer> {
  return startAuth({ providers }, ROUTES);
}

/** Begins a sign-in, and returns its state. */
async function begin(browser: Browser, id: string): Promise<string> {
  const response = await browser.ask(`/auth/${id}/start`);
  await response.body?.cancel();
  const url = new URL(response.headers.get("location")!);
  return url.searchParams.get("state")!;
}

/** Returns the outcome of a callback: the user's id, or status and code. */
async function finish(
  browser: Browser,
  id: string,
  parameters: Record<string, string>,
): Promise<string> {
  const query = new URLSearchParams(parameters);
  const response = await browser.ask(`/auth/${id}/callback?${query}`);
  const answer = await response.json();
  return response.ok
    ? answer.userId
    : `${response.status} ${answer.error.code}`;
}

const MISMATCH = "400 OAUTH_STATE_MISMATCH";

Deno.test("A callback with a foreign iss fails and uses up its state", async () => {
  const { provider, requests } = providerAt("a.example");
  await using app = await start(provider);
  for (
    const iss of [
      "https://b.example",
      "https://a.example.evil.example",
      "https://a.example:8443",
      "http://a.example",
      "https://a.example/realms/y",
      "https://a.example/realms/x/auth",
      "https://A.EXAMPLE",
      "https:",
      "https:/",
      "https://",
      "null",
      "",
      "a.example",
      "/realms/x",
      "x".repeat(10_000),
    ]
  ) {
    const browser = app.browser();
    const state = await begin(browser, "a");
    const cookies = new Map(browser.cookies);
    assertEquals(
      await finish(browser, "a", { code: "c", state, iss }),
      MISMATCH,
      iss,
    );
    assertEquals(browser.cookies.size, 0);
    for (const [name, cookie] of cookies) browser.cookies.set(name, cookie);
    assertEquals(await finish(browser, "a", { code: "c", state }), MISMATCH);
  }
  assertEquals(requests, []);
});

Deno.test("A callback with the server's own iss, or without one, signs in", async () => {
  const { provider } = providerAt("a.example");
  await using app = await start(provider);
  for (
    const iss of [
      "https://a.example",
      "https://a.example/",
      "https://a.example/realms/x",
      undefined,
    ]
  ) {
    const browser = app.browser();
    const state = await begin(browser, "a");
    const parameters = {
      code: "c",
      state,
      ...iss === undefined ? {} : { iss },
    };
    assertEquals(await finish(browser, "a", parameters), "user of a", iss);
  }
});

Deno.test("iss is compared exactly with a known issuer", async () => {
  const { provider, requests } = providerAt("a.example", {
    scope: ["openid"],
    idToken: { issuer: "https://id.example", jwksUrl: "https://a.example/k" },
  });
  await using app = await start(provider);
  const browser = app.browser();
  for (
    const iss of ["https://a.example", "https://id.example/", "id.example"]
  ) {
    const state = await begin(browser, "a");
    assertEquals(
      await finish(browser, "a", { code: "c", state, iss }),
      MISMATCH,
    );
  }
  assertEquals(requests.length, 0);
  const state = await begin(browser, "a");
  const iss = "https://id.example";
  // It fails without an id token, but only after the code was sent.
  assertEquals(
    await finish(browser, "a", { code: "c", state, iss }),
    "502 OAUTH_FAILED",
  );
  assertEquals(requests.map(({ url }) => url), ["https://a.example/token"]);
});

Deno.test("The presets accept callbacks only from their own issuers", async () => {
  const client = { clientId: "id", clientSecret: "secret" };
  const issuers: Record<string, string> = {
    github: "https://github.com/login/oauth",
    google: "https://accounts.google.com",
    discord: "https://discord.com",
  };
  const asked: string[] = [];
  const requests: Request[] = [];
  const fetch = scriptedFetch({}, requests);
  await using app = await start(
    presetCodeHost({ ...client, fetch }),
    presetIdentity({ ...client, fetch }),
    presetChat({ ...client, fetch }),
  );
  for (const id of Object.keys(issuers)) {
    for (const [owner, iss] of Object.entries(issuers)) {
      const browser = app.browser();
      const state = await begin(browser, id);
      const outcome = await finish(browser, id, { code: "c", state, iss });
      assertEquals(outcome, owner === id ? "502 OAUTH_FAILED" : MISMATCH);
      if (requests.splice(0).length > 0) asked.push(`${id} ${owner}`);
    }
  }
  assertEquals(asked, ["github github", "google google", "discord discord"]);
});

Deno.test("A callback of one provider isn't accepted for another", async () => {
  const honest = providerAt("honest.example");
  const evil = providerAt("evil.example");
  await using app = await start(honest.provider, evil.provider);
  const iss = "https://honest.example";
  for (const id of ["evil", "honest"]) {
    const browser = app.browser();
    // The evil server redirected the browser to the honest one with its own
    // state.
    const state = await begin(browser, "evil");
    assertEquals(
      await finish(browser, id, { code: "c", state, iss }),
      MISMATCH,
    );
  }
  assertEquals([...honest.requests, ...evil.requests], []);
});

Deno.test("With isIssuerRequired, a callback without iss fails", async () => {
  const { provider, requests } = providerAt("a.example");
  await using app = await start({
    ...provider,
    issuer: "https://a.example",
    isIssuerRequired: true,
  });
  const browser = app.browser();
  let state = await begin(browser, "a");
  assertEquals(await finish(browser, "a", { code: "c", state }), MISMATCH);
  assertEquals(
    await finish(browser, "a", {
      error: "access_denied",
      state: await begin(browser, "a"),
    }),
    MISMATCH,
  );
  assertEquals(requests, []);
  state = await begin(browser, "a");
  const iss = "https://a.example";
  assertEquals(
    await finish(browser, "a", { code: "c", state, iss }),
    "user of a",
  );
});

Deno.test("A callback with an error fails whatever else it contains, and uses up its state", async () => {
  using captured = captureErrors();
  const { provider, requests } = providerAt("a.example");
  await using app = await start(provider);
  const denied = "401 INVALID_CREDENTIALS";
  const failed = "502 OAUTH_FAILED";
  const outcomes: Record<string, string> = {
    access_denied: denied,
    login_required: denied,
    consent_required: denied,
    interaction_required: denied,
    account_selection_required: denied,
    server_error: failed,
    temporarily_unavailable: failed,
    invalid_scope: failed,
    "made up": failed,
    "": failed,
    ACCESS_DENIED: failed,
  };
  for (const [error, outcome] of Object.entries(outcomes)) {
    for (const extra of [{}, { code: "c" }, { iss: "https://a.example" }]) {
      const browser = app.browser();
      const state = await begin(browser, "a");
      const cookies = new Map(browser.cookies);
      assertEquals(
        await finish(browser, "a", { state, error, ...extra }),
        outcome,
        error,
      );
      assertEquals(browser.cookies.size, 0);
      for (const [name, cookie] of cookies) browser.cookies.set(name, cookie);
      assertEquals(await finish(browser, "a", { code: "c", state }), MISMATCH);
    }
  }
  assertEquals(requests, []);
  assert(captured.lines.length > 0);
});

Deno.test("A callback with an error needs this browser's state and the issuer of the sign-in", async () => {
  const { provider } = providerAt("a.example");
  await using app = await start(provider);
  const browser = app.browser();
  const state = await begin(browser, "a");
  const error = "access_denied";
  assertEquals(await finish(browser, "a", { error }), MISMATCH);
  assertEquals(await finish(app.browser(), "a", { error, state }), MISMATCH);
  assertEquals(
    await finish(browser, "a", { error, state, iss: "https://b.example" }),
    MISMATCH,
  );
});

Deno.test("A callback with an error keeps the existing session", async () => {
  const { provider } = providerAt("a.example");
  await using app = await start(provider);
  const browser = app.browser();
  const first = await begin(browser, "a");
  assertEquals(
    await finish(browser, "a", { code: "c", state: first }),
    "user of a",
  );
  const state = await begin(browser, "a");
  await finish(browser, "a", { error: "access_denied", state });
  assertEquals((await browser.json("/me")).user.id, "user of a");
});

Deno.test("A provider's error text appears only in the log, sanitized and without the state", async () => {
  using captured = captureErrors();
  const { provider } = providerAt("a.example");
  await using app = await start(provider);
  const browser = app.browser();
  const query = async (parameters: Record<string, string>) => {
    const state = await begin(browser, "a");
    const path = `/auth/a/callback?${new URLSearchParams({
      ...parameters,
      state,
      error_description: parameters["error_description"]!.replace(
        "STATE",
        encodeURIComponent(state),
      ),
    })}`;
    const response = await browser.ask(path);
    return [state, await response.text()] as const;
  };
  const reasons = () =>
    app.events.flatMap((event) =>
      event.type === "sign_in_failed" ? [event.reason ?? ""] : []
    );
  const [, denied] = await query({
    error: "access_denied",
    error_description: 'The user said "no"\r\n\u001b[31m[auth] sign_in',
  });
  assert(!denied.includes("said"), denied);
  assertEquals(reasons(), [
    "the provider answered with the error access_denied (The user said ?no????[31m[auth] sign_in)",
  ]);
  const [state, failed] = await query({
    error: "server_error\n",
    error_description: "your state was STATE",
  });
  assert(!failed.includes("server_error"), failed);
  assert(!reasons().join().includes(state));
  assertEquals(captured.lines, [
    "Sign-in with provider %s failed: a the provider answered with the error server_error? (an error that echoes a secret)",
  ]);
  await query({ error: "access_denied", error_description: "x".repeat(9_000) });
  assert(reasons().at(-1)!.length < 300);
});
