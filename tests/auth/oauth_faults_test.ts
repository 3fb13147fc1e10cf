import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import {
  AuthError,
  oauth,
  presetChat,
  presetCodeHost,
  presetIdentity,
} from "@quartet/kit/auth";
import type { AuthProvider, BaseUser } from "@quartet/kit/auth";
import type { Fault } from "../../examples/hillside/mod.ts";
import { FAULTS, GUILD, PROVIDER_TEXT } from "../../examples/hillside/mod.ts";
import type { LocalProvider } from "./oauth_setup.ts";
import {
  ANSWER,
  CALLBACK,
  click,
  CLIENT,
  Jar,
  scriptedFetch,
  signIn,
  startProvider,
  timedFlow,
} from "./oauth_setup.ts";

/** The timeout for servers that never answer; other tests use a longer one. */
const PATIENCE = 0.3;
const SILENT: readonly Fault[] = ["stalled", "silent"];

/** A provider, and the paths it requests. */
type Case = readonly [
  name: string,
  make: (local: LocalProvider, timeout: number) => AuthProvider<BaseUser>,
  paths: Readonly<Record<string, string>>,
];

const CASES: readonly Case[] = [
  [
    "GitHub",
    (local, timeout) => presetCodeHost({ ...local.github, timeout }),
    {
      "/github/login/oauth/access_token": "the token endpoint",
      "/github/api/v3/user": "the user-info endpoint",
      "/github/api/v3/user/emails": "the endpoint of e-mail addresses",
    },
  ],
  [
    "Google",
    (local, timeout) => presetIdentity({ ...local.google, timeout }),
    {
      "/google/token": "the token endpoint",
      "/google/oauth2/v3/certs": "the endpoint of the issuer's keys",
      "/google/v1/userinfo": "the user-info endpoint",
    },
  ],
  [
    "Discord",
    (local, timeout) =>
      presetChat({ ...local.discord, guildId: GUILD, timeout }),
    {
      "/discord/api/oauth2/token": "the token endpoint",
      "/discord/api/users/@me": "the user-info endpoint",
      [`/discord/api/users/@me/guilds/${GUILD}/member`]:
        "the endpoint of guild members",
    },
  ],
  [
    "Another provider",
    ({ google: { jwksUrl: _, ...endpoints }, discord }, timeout) =>
      oauth({
        ...endpoints,
        id: "any",
        name: "Any",
        scope: ["openid"],
        profileUrl: discord.userInfoUrl,
        timeout,
      }),
    {
      "/google/token": "the token endpoint",
      "/google/v1/userinfo": "the user-info endpoint",
      "/discord/api/users/@me": "the profile endpoint",
    },
  ],
];

/** The log's text for each fault. */
const REASONS: Readonly<Record<Fault, RegExp>> = {
  error: /^the .+ answered 200: text-of-the-provider$/,
  unauthorized: /^the .+ answered 401: text-of-the-provider$/,
  html: /^the .+ answered 200 without JSON$/,
  broken: /^the .+ answered 200 with bad JSON$/,
  huge: /^the .+ failed: The body must be at most 1048576 bytes$/,
  bomb: /^the .+ failed: The body must be at most 1048576 bytes$/,
  other:
    /^the .+ (did not answer with an (object|array)|returned no usable access_token|can't be verified: .+)$/,
  stalled: /^the .+ took more than 300 ms$/,
  silent: /^the .+ took more than 300 ms$/,
  redirect: /^the .+ answered 307 without JSON, with a redirect/,
};

for (const [name, make, paths] of CASES) {
  for (const [path, what] of Object.entries(paths)) {
    Deno.test(`${name} fails the sign-in while ${path} fails`, async () => {
      await using local = startProvider();
      for (const fault of FAULTS) {
        local.server.faults.set(path, fault);
        const timeout = SILENT.includes(fault) ? PATIENCE : 30;
        const provider = make(local, timeout);
        const error = await failureOf(provider);
        assertEquals(error.code, "OAUTH_FAILED", fault);
        const reason = (error.cause as Error).message;
        assertMatch(reason, REASONS[fault]);
        if (fault !== "other") assert(reason.startsWith(what), reason);
        const body = await error.toResponse().text();
        assert(!body.includes(PROVIDER_TEXT), body);
        assert(!local.server.seen.some(({ path }) => path === "/stolen"));
      }
    });
  }
}

/** Returns why a sign-in fails, and checks that no secrets are shown. */
async function failureOf(
  provider: AuthProvider<BaseUser>,
): Promise<AuthError> {
  const flow = timedFlow();
  const jar = new Jar();
  const { url, cookies } = flow.begin(provider, CALLBACK, null);
  jar.take(cookies);
  const answer = await click(url, "ada");
  const { user } = flow.finish(provider, answer, jar.header);
  const error = await user.then(() => undefined, (error) => error);
  assert(error instanceof AuthError, `${error}`);
  const text = Deno.inspect(error, { depth: 10 });
  for (const secret of [CLIENT.secret, answer.code, answer.state]) {
    assert(!text.includes(secret), text);
  }
  return error;
}

Deno.test("A provider that can't be reached fails the sign-in", async () => {
  const local = startProvider();
  const provider = presetCodeHost(local.github);
  await local[Symbol.asyncDispose]();
  const callback = { code: "c", state: "s", redirectUri: CALLBACK };
  const error = await provider.handleCallback!(callback)
    .then(() => undefined, (error) => error);
  assertEquals(error.message, "the token endpoint can't be reached");
});

Deno.test("A provider's error code can't control the terminal", async () => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () =>
      Response.json({
        error: `\u001b[2J\r\nforged line "${"x".repeat(1000)}\u202e`,
      }, { status: 400 }),
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const provider = oauth({
    id: "any",
    name: "Any",
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    authorizationUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    userInfoUrl: `${origin}/user`,
  });
  const error = await provider.handleCallback!({
    code: "c",
    state: "s",
    redirectUri: CALLBACK,
  }).then(() => Promise.reject(), (error) => error);
  assertMatch(
    error.message,
    /^the token endpoint answered 400: \?\[2J\?\?forged line \?x+$/,
  );
  assert(error.message.length < 150);
});

Deno.test("Any error of a provider fails the sign-in", async () => {
  for (const error of [{ code: "bad" }, ["bad"], 1, true, false]) {
    const fetch = scriptedFetch({
      "/login/oauth/access_token": { access_token: "t", error },
      "/user": { id: 1815, login: "ada" },
    });
    const provider = presetCodeHost({
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      fetch,
    });
    const failure = await assertRejects(() => provider.handleCallback!(ANSWER));
    assertEquals(
      (failure as Error).message,
      "the token endpoint answered 200: an error that is not a string",
    );
  }
});

Deno.test("A provider that echoes what it was sent leaks nothing into the log", async () => {
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const form = new URLSearchParams(await request.text());
      const said = form.get(request.url.split("?")[1] ?? "") ??
        request.headers.get("authorization")?.slice(7);
      return request.url.endsWith("?access_token")
        ? Response.json({ access_token: "the-access-token" })
        : Response.json({ error: `no: ${said}` }, { status: 400 });
    },
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  for (
    const name of ["code", "client_secret", "code_verifier", "access_token"]
  ) {
    const provider = oauth({
      id: "any",
      name: "Any",
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      authorizationUrl: `${origin}/authorize`,
      tokenUrl: `${origin}/token?${name}`,
      userInfoUrl: `${origin}/user`,
    });
    const error = await provider.handleCallback!({
      code: "the-code",
      state: "the-state",
      redirectUri: CALLBACK,
      codeVerifier: "v".repeat(43),
    }).then(() => undefined, (error) => error);
    assertMatch(error.message, /400: an error that echoes a secret$/);
  }
});

Deno.test("A provider that echoes secrets in another encoding leaks nothing either", async () => {
  const code = "4/0Ab+c&d=é%2";
  const encodings: ((request: Request, body: string) => string | null)[] = [
    (_, body) => body,
    (_, body) => body.replace(/%../g, (escape) => escape.toLowerCase()),
    () => encodeURIComponent(code),
    () => encodeURI(code),
    () => "a%zz&b 4%2f0Ab+c&d=é%252",
    () => encodeURIComponent(CLIENT.secret),
    ({ headers }) => headers.get("authorization"),
    ({ headers }) => atob(headers.get("authorization")!.slice(6)),
  ];
  let said: (typeof encodings)[number] = () => "invalid_grant";
  const provider = oauth({
    id: "any",
    name: "Any",
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    clientAuthentication: "basic",
    authorizationUrl: "https://provider.example/authorize",
    tokenUrl: "https://provider.example/token",
    userInfoUrl: "https://provider.example/user",
    fetch: async (input, init) => {
      const request = new Request(input, init);
      const error = said(request, await request.text());
      return Response.json({ error }, { status: 400 });
    },
  });
  const reason = () =>
    provider.handleCallback!({ code, state: "s", redirectUri: CALLBACK })
      .then(() => undefined, ({ message }) => message);
  assertEquals(
    await reason(),
    "the token endpoint answered 400: invalid_grant",
  );
  for (said of encodings) {
    assertEquals(
      await reason(),
      "the token endpoint answered 400: an error that echoes a secret",
      `${said}`,
    );
  }
});

Deno.test("A token endpoint that returns no bearer token fails the sign-in", async () => {
  let answer: unknown;
  await using server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    ({ url }) =>
      Response.json(url.endsWith("/token") ? answer : { sub: "1", name: "A" }),
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const provider = oauth({
    id: "any",
    name: "Any",
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    authorizationUrl: `${origin}/authorize`,
    tokenUrl: `${origin}/token`,
    userInfoUrl: `${origin}/user`,
  });
  const callback = { code: "c", state: "s", redirectUri: CALLBACK };
  for (
    const bad of [
      {},
      null,
      [],
      "token",
      { access_token: "" },
      { access_token: 5 },
      { access_token: null },
      { access_token: ["a"] },
      { access_token: "a\r\nx-evil: 1" },
      { access_token: "é" },
      { access_token: "a", token_type: "DPoP" },
      { access_token: "a", token_type: ["DPoP"] },
    ]
  ) {
    answer = bad;
    const error = await provider.handleCallback!(callback)
      .then(() => undefined, (error) => error);
    assertMatch(error.message, /^the token endpoint (returned|did not)/);
    assert(!error.message.includes("evil"));
  }
  for (const good of [{}, { token_type: "bearer" }, { token_type: "BEARER" }]) {
    answer = { access_token: "a", ...good, expires_in: "nonsense" };
    const user = await provider.handleCallback!(callback);
    assertEquals(user?.id, "1");
  }
});

Deno.test("A provider that has recovered signs in again", async () => {
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  local.server.faults.set("/google/oauth2/v3/certs", "html");
  assertEquals((await failureOf(provider)).code, "OAUTH_FAILED");
  local.server.faults.clear();
  assertEquals((await signIn(provider, "ada")).id, "1815");
});

Deno.test("A provider's timeout applies even if its fetch ignores the signal", async () => {
  const endless = () =>
    new Response(new ReadableStream(), {
      headers: { "content-type": "application/json" },
    });
  const fetches = [
    () => Promise.resolve(endless()),
    () => new Promise<Response>(() => {}),
  ];
  for (const fetch of fetches) {
    const provider = presetCodeHost({
      clientId: CLIENT.id,
      clientSecret: CLIENT.secret,
      timeout: 0.001,
      fetch,
    });
    const error = await assertRejects(() =>
      provider.handleCallback!({
        code: "code",
        state: "state",
        redirectUri: CALLBACK,
      })
    );
    assertEquals(
      (error as Error).message,
      "the token endpoint took more than 1 ms",
    );
  }
});
