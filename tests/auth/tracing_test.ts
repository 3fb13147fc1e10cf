/** The auth spans of a trace, and the secrets it must not contain. */

import { assert, assertEquals } from "@std/assert";
import { type AuthFragment, createApp, observe } from "@quartet/kit/app";
import {
  apiKey,
  createAuthPlugin,
  credentials,
  getAuth,
  getOAuthUrl,
  getUser,
  handleOAuthCallback,
  hashPassword,
  oauth,
  optionalAuth,
  presetCodeHost,
  rateLimitSignIn,
  requireAuth,
  requireRoles,
  verifyPassword,
} from "@quartet/kit/auth";
import { createTracer, serializeTrace, tracePlugin } from "@quartet/kit/trace";
import type { SpanData, TracerImpl } from "@quartet/kit/trace";
import { noteDevCommand } from "../../core/runtime/environment.ts";
import { byKey, byName, createClock, SECRET, STRATEGIES } from "./harness.ts";
import { signIn, startProvider } from "./oauth_setup.ts";
import type { SessionStrategy } from "@quartet/kit/auth";

/** Starts a traced app, and a client that keeps its cookies. */
function startTraced(strategy: SessionStrategy) {
  const tracer = createTracer();
  const clock = createClock();
  const auth = createAuthPlugin({
    session: { secret: SECRET, strategy, updateAge: 60 },
    now: clock.now,
    providers: [
      byName(),
      byKey(),
      oauth({
        id: "somewhere",
        name: "Somewhere",
        clientId: "client",
        clientSecret: "secret of the client",
        authorizationUrl: "https://somewhere.example/authorize",
        tokenUrl: "http://127.0.0.1:1/token",
        userInfoUrl: "http://127.0.0.1:1/me",
      }),
    ],
  });
  const redirectUri = "https://app.example/callback";
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    plugins: [auth],
    routes: [
      {
        path: "/sign-in",
        config: { ...optionalAuth() },
        action: async ({ request, context }) =>
          await getAuth(context).signIn("credentials", await request.json()),
      },
      {
        path: "/sign-out",
        action: ({ context }) => getAuth(context).signOut(),
      },
      { path: "/me", config: { ...requireAuth() }, loader: () => "me" },
      {
        path: "/admin",
        config: { ...requireRoles(["admin"]) },
        loader: () => 1,
      },
      {
        path: "/token",
        loader: ({ context }) => getAuth(context).getToken(),
      },
      {
        path: "/start",
        loader: ({ context }) => getOAuthUrl(context, "somewhere", redirectUri),
      },
      {
        path: "/callback",
        loader({ request, context }) {
          const query = new URL(request.url).searchParams;
          const [code, state] = [query.get("code")!, query.get("state")!];
          return handleOAuthCallback(context, "somewhere", {
            code,
            state,
            redirectUri,
          });
        },
      },
    ],
  });
  const jar = new Map<string, string>();

  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    const cookie = Array.from(jar, (pair) => pair.join("=")).join("; ");
    if (cookie !== "") headers.set("cookie", cookie);
    const request = new Request(`http://localhost${path}`, {
      ...init,
      headers,
    });
    const response = await app.fetch(request);
    for (const line of response.headers.getSetCookie()) {
      const [pair] = line.split(";");
      const at = pair!.indexOf("=");
      jar.set(pair!.slice(0, at), pair!.slice(at + 1));
    }
    return response;
  }

  return { tracer, app, clock, jar, ask };
}

/** Starts a traced app that refuses in many ways. */
function startReasons() {
  const tracer = createTracer();
  let hash: string | undefined;
  const auth = createAuthPlugin({
    session: { secret: SECRET },
    providers: [
      credentials({
        async authorize({ password }) {
          hash ??= await hashPassword("right", { ln: 10 });
          const isRight = await verifyPassword(password, hash);
          return isRight ? { id: "1" } : null;
        },
      }),
      byKey(),
    ],
    signInLimiter: rateLimitSignIn({ perAccountAndAddress: 1, now: () => 0 }),
  });
  const route = (path: string, config: AuthFragment) => ({
    path,
    config,
    loader: () => path,
  });
  const app = createApp({
    trace: tracePlugin(tracer, { authorize: () => true }),
    plugins: [auth],
    routes: [
      {
        path: "/sign-in",
        config: { ...optionalAuth() },
        action: async ({ request, context }) =>
          await getAuth(context).signIn("credentials", await request.json()),
      },
      route("/me", requireAuth()),
      route("/any", requireRoles(["admin", "owner"])),
      route("/all", requireRoles(["admin", "editor"], { requireAll: true })),
      route("/both", {
        ...requireRoles(["editor"]),
        ...requireRoles(["admin"]),
      }),
    ],
  });
  const ask = (path: string, init?: RequestInit) =>
    app.fetch(new Request(`http://localhost${path}`, init));
  return { tracer, app, ask };
}

/** Returns the spans of the auth layer. */
function authSpans(tracer: TracerImpl): SpanData[] {
  return tracer.getTraces().flatMap((trace) => [...trace.spans.values()])
    .filter(({ layer }) => layer === "auth");
}

Deno.test("Auth checks are spans of the auth layer, with their results", async () => {
  for (const strategy of STRATEGIES) {
    const { tracer, app, ask } = startTraced(strategy);
    const spansOf = async (path: string, init?: RequestInit) => {
      const before = new Set(authSpans(tracer).map(({ id }) => id));
      await (await ask(path, init)).body?.cancel();
      return authSpans(tracer).filter(({ id }) => !before.has(id)).map((
        { name, attributes },
      ) => [name, ...Object.values(attributes)].join(" "));
    };
    const signIn = (user: string) => ({
      method: "POST",
      body: JSON.stringify({ user }),
    });
    assertEquals(await spansOf("/me"), [
      "auth:session anonymous",
      "auth:requireAuth false anonymous refused: a signed-in user is required",
    ]);
    assertEquals(await spansOf("/sign-in", signIn("bob")), [
      "auth:session anonymous",
      "auth:optionalAuth true",
      "auth:signIn credentials",
    ]);
    assertEquals(await spansOf("/me"), [
      "auth:session cookie credentials",
      "auth:requireAuth true",
    ]);
    assertEquals(await spansOf("/admin"), [
      "auth:session cookie credentials",
      "auth:requireRoles false roles refused: role admin is required",
    ]);
    assertEquals(
      await spansOf("/admin", { headers: { authorization: "Bearer x" } }),
      [
        "auth:session malformed anonymous: the session is malformed, or signed with another secret",
        "auth:requireRoles false anonymous refused: a signed-in user is required",
      ],
    );
    assertEquals(await spansOf("/me", { headers: { "x-api-key": "k-815" } }), [
      "auth:session request apiKey",
      "auth:requireAuth true",
    ]);
    assertEquals(await spansOf("/sign-out", { method: "POST" }), [
      "auth:session cookie credentials",
      "auth:signOut",
    ]);
    await app.close();
  }
});

Deno.test("Guards, credentials and sign-ins say why they refuse", async () => {
  const { tracer, app, ask } = startReasons();
  const reasonOf = async (path: string, init?: RequestInit) => {
    await (await ask(path, init)).body?.cancel();
    return authSpans(tracer).findLast(({ attributes }) =>
      "app.reason" in attributes
    )!.attributes["app.reason"];
  };
  const guess = (password: string) => ({
    method: "POST",
    body: JSON.stringify({ user: "ada", password }),
  });
  const key = (key: string) => ({ headers: { "x-api-key": key } });
  assertEquals(
    await reasonOf("/me", key("wrong")),
    "refused: a signed-in user is required",
  );
  const session = authSpans(tracer).find(({ name }) => name === "auth:session");
  assertEquals(session!.attributes, {
    "app.auth.result": "invalid_key",
    "app.auth.provider": "apiKey",
    "app.reason": "anonymous: the provider refused the key",
  });
  const foreign = { origin: "https://evil.example", cookie: "session=x" };
  const cases: [path: string, init: RequestInit, reason: string][] = [
    ["/any", key("k-815"), "role admin or owner is required"],
    ["/all", key("k-815"), "roles admin and editor are required"],
    ["/both", key("k-815"), "role admin is required"],
    ["/sign-in", guess("wrong"), "Invalid credentials"],
    [
      "/sign-in",
      guess("wrong"),
      "too many attempts, the next is allowed in 900 s",
    ],
    [
      "/sign-in",
      { ...guess("right"), headers: foreign },
      "a page of another origin sent it",
    ],
  ];
  for (const [path, init, reason] of cases) {
    assertEquals(await reasonOf(path, init), `refused: ${reason}`);
  }
  assertEquals(
    authSpans(tracer).map(({ name }) => name)
      .filter((name) => name.endsWith("Password")),
    ["auth:hashPassword", "auth:verifyPassword"],
  );
  await app.close();
});

Deno.test("OAuth's requests are spans without their queries and bodies", async () => {
  await using server = startProvider();
  const tracer = createTracer();
  const provider = presetCodeHost(server.github);
  await tracer.withSpan("job", "custom", () => signIn(provider, "ada"));
  const spans = authSpans(tracer);
  const { host } = new URL(server.origin);
  assertEquals(
    spans[0]!.name,
    `fetch POST ${host}/github/login/oauth/access_token`,
  );
  assertEquals(spans[0]!.attributes, {
    "http.request.method": "POST",
    "url.full": `${server.origin}/github/login/oauth/access_token`,
    "server.address": "127.0.0.1",
    "http.response.status_code": 200,
  });
  assertEquals(spans[1]!.name.startsWith(`fetch GET ${host}/github/`), true);
});

Deno.test("A failed sign-in is a failed span", async () => {
  const { tracer, app, ask } = startTraced("jwt");
  const response = await ask("/sign-in", { method: "POST", body: "{}" });
  await response.body?.cancel();
  assertEquals(response.status, 401);
  const span = authSpans(tracer).find(({ name }) => name === "auth:signIn");
  assertEquals(span!.status, "error");
  await app.close();
});

Deno.test("Traces contain no tokens, cookies, keys, codes, states, passwords or session ids", async () => {
  for (const strategy of STRATEGIES) {
    const { tracer, app, clock, jar, ask } = startTraced(strategy);
    const secrets = new Set([
      SECRET,
      "secret of the client",
      "k-815",
      "hunter2",
      "c0de-4711",
      "wrong-4711",
    ]);
    const text = async (path: string, init?: RequestInit) => {
      const response = await ask(path, init);
      for (const value of jar.values()) if (value !== "") secrets.add(value);
      return await response.text();
    };
    const post = (body: unknown) => ({
      method: "POST",
      body: JSON.stringify(body),
    });
    await text("/sign-in", post({ user: "mallory", password: "hunter2" }));
    const session = JSON.parse(
      await text("/sign-in", post({ user: "ada", password: "hunter2" })),
    );
    secrets.add(session.sessionId);
    const token = JSON.parse(await text("/token"));
    secrets.add(token);
    await text("/me", { headers: { authorization: `Bearer ${token}` } });
    await text("/me", { headers: { authorization: "Bearer wrong-4711" } });
    await text("/me", { headers: { "x-api-key": "wrong-4711" } });
    await text("/me", { headers: { "x-api-key": "k-815" } });
    await text("/me?key=k-815");
    await text("/me?key=wrong-4711");
    clock.pass(61);
    await text("/me");
    const url = new URL(JSON.parse(await text("/start")));
    const state = url.searchParams.get("state")!;
    secrets.add(state);
    secrets.add(url.searchParams.get("nonce") ?? state);
    await text(`/callback?code=c0de-4711&state=${state}`);
    await text(`/callback?code=c0de-4711&state=${state}`);
    await text("/sign-out", { method: "POST" });

    const shown = tracer.getTraces().map((trace) =>
      JSON.stringify(serializeTrace(trace))
    ).join("\n");
    assert(shown.includes("auth:callback"));
    assert(secrets.size > 10);
    for (const secret of secrets) {
      for (const part of [secret, ...secret.split(".")]) {
        assert(part.length < 5 || !shown.includes(part), part);
      }
    }
    await app.close();
  }
});

Deno.test("The span of a failed OAuth sign-in has the text of the log only under the dev command", async () => {
  const { tracer, app, ask } = startTraced("jwt");
  const reason = async () => {
    const url = new URL(await (await ask("/start")).json());
    const state = url.searchParams.get("state");
    await (await ask(`/callback?code=x&state=${state}`)).body?.cancel();
    return authSpans(tracer).findLast(({ name }) => name === "auth:callback")!
      .attributes["app.reason"];
  };
  assertEquals(
    await reason(),
    "refused: The sign-in provider has failed; please try again",
  );
  noteDevCommand();
  assertEquals(await reason(), "refused: the token endpoint can't be reached");
  await app.close();
});

Deno.test("Traces leave out API keys in parameters and headers of any name", async () => {
  const key = "live-4711-KEY";
  const names = ["k", "client", "schlüssel", "app[key]", "a b", "\ud800"];
  for (const queryParam of names) {
    for (const recordHeaders of [true, ["X-Client", "accept"]]) {
      const tracer = createTracer();
      // Tracing is set up before auth.
      const trace = tracePlugin(tracer, {
        recordHeaders,
        authorize: () => true,
      });
      const auth = createAuthPlugin({
        session: { secret: SECRET },
        providers: [
          apiKey({
            queryParam,
            header: "X-Client",
            validate: (sent) =>
              Promise.resolve(sent === key ? { id: "1" } : null),
          }),
        ],
      });
      const app = createApp({
        plugins: [trace, auth],
        routes: [{
          path: "/me",
          loader: ({ request, context }) => {
            observe("failed", "custom", (span) => {
              span?.error(new Error(`Cannot serve ${request.url}`));
            });
            return getUser(context)?.id;
          },
        }],
      });
      const plain = "http://localhost/me?page=2";
      const encoded = encodeURIComponent(queryParam.toWellFormed());
      const url = `${plain}&${encoded}=${key}`;
      const shown = [
        new Request(url),
        new Request(url.toLowerCase().replace(key.toLowerCase(), key)),
        new Request(`http://localhost/me?${queryParam}=${key}`),
        new Request(plain, { headers: { "x-client": key, accept: "a/b" } }),
        new Request(plain, { headers: { "X-CLIENT": key, referer: url } }),
      ];
      for (const request of shown) {
        const response = await app.fetch(request);
        assertEquals(await response.json(), "1", request.url);
      }
      // A form writes `+` for a space, which is another parameter for apiKey().
      const form = new URLSearchParams({ [queryParam]: key });
      await (await app.fetch(new Request(`${plain}&${form}`))).body?.cancel();
      const text = JSON.stringify(tracer.getTraces().map(serializeTrace));
      assertEquals(/live-4711/i.test(text), false, text);
      assert(text.includes("page=2"), "other parameters stay");
      assert(text.includes("http.request.header.accept"));
      await app.close();
    }
  }
});

Deno.test("A copy of the package leaves out the API keys of another", async () => {
  apiKey({ header: "x-elsewhere", validate: () => Promise.resolve(null) });
  const copy = await import("../../core/redact/redact_url.ts?copy");
  const { isSecretParameter } =
    copy as typeof import("../../core/redact/redact_url.ts");
  assert(isSecretParameter("X-Elsewhere"));
  assertEquals(isSecretParameter("x-nowhere"), false);
});
