/**
 * Whatever else is sent, configured or logged: nothing of it gets anybody in,
 * breaks the server, or tells a secret.
 *
 * @module
 */

import { assert, assertEquals, assertLess, assertThrows } from "@std/assert";
import type { Route } from "@quartet/kit/app";
import {
  apiKey,
  AuthError,
  createAuthPlugin,
  credentials,
  getAuth,
  getOAuthUrl,
  handleOAuthCallback,
  mock,
  oauth,
  requireAuth,
} from "@quartet/kit/auth";
import type { AuthConfig, SignInAttempt } from "@quartet/kit/auth";
import { ROOT } from "../helpers.ts";
import { byName, SECRET, startAuth, STRATEGIES, USERS } from "./harness.ts";
import type { Me, TestConfig } from "./harness.ts";

const COOKIE = "app.session";

function keys(): TestConfig {
  return {
    providers: [
      byName(),
      apiKey({
        queryParam: "key",
        validate: (key) =>
          Promise.resolve(key === "k-815" ? USERS["bob"]! : null),
      }),
    ],
  };
}

/** What is logged while something runs. */
async function logged(run: () => Promise<void>): Promise<string> {
  const lines: unknown[] = [];
  const methods = ["log", "error", "warn", "info", "debug"] as const;
  const originals = methods.map((name) => console[name]);
  for (const name of methods) {
    console[name] = (...args: unknown[]) =>
      void lines.push(args.map((arg) => Deno.inspect(arg)).join(" "));
  }
  try {
    await run();
  } finally {
    for (const [i, name] of methods.entries()) console[name] = originals[i]!;
  }
  return lines.join("\n");
}

Deno.test("An API key authenticates its request alone; none, an empty or a doubtful one doesn't", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ ...keys(), session: { strategy } });
    const ask = async (path: string, headers: [string, string][] = []) => {
      const response = await fetch(`${server.origin}${path}`, { headers });
      assertEquals(response.status, 200);
      assertEquals(response.headers.getSetCookie(), []);
      return await response.json() as Me;
    };
    const good = await ask("/me", [["x-api-key", "k-815"]]);
    assertEquals(good.session, {
      userId: "2",
      name: "Bob",
      roles: ["editor"],
      provider: "apiKey",
    });
    assertEquals(good.token, null, "what is for one request is no session");
    assertEquals((await ask("/me?key=k-815")).user?.id, "2");
    assertEquals(
      (await ask("/me?key=k-815", [["x-api-key", "k-815"]])).user?.id,
      "2",
    );
    const refused: [string, [string, string][]?][] = [
      ["/me"],
      ["/me?key="],
      ["/me?key"],
      ["/me?key[]=k-815"],
      ["/me?key=k-815&key=other"],
      ["/me?key=k-815,k-815"],
      ["/me?KEY=k-815"],
      ["/me?key=k-815%00"],
      ["/me?key=k-815", [["x-api-key", "other"]]],
      ["/me?key=other", [["x-api-key", "k-815"]]],
      ["/me", [["x-api-key", ""]]],
      ["/me", [["x-api-key", "k-81"]]],
      ["/me", [["x-api-key", "K-815"]]],
      ["/me", [["x-api-key", "k-815"], ["x-api-key", "other"]]],
      ["/me", [["x-api-key", "k-815"], ["x-api-key", "k-815"]]],
      ["/me", [["x-api-key", "x".repeat(5000)]]],
      ["/me", [["authorization", "Bearer k-815"]]],
    ];
    for (const [path, headers] of refused) {
      const { session } = await ask(path, headers);
      assertEquals(session, null, `${path} ${JSON.stringify(headers)}`);
    }
    // It decides before the cookie, and leaves that alone.
    const browser = await server.signIn("ada");
    const headers = { "x-api-key": "k-815" };
    assertEquals((await browser.json("/me", { headers })).user.id, "2");
    assertEquals(
      (await browser.json("/me", { headers: { "x-api-key": "other" } })).user,
      null,
    );
    assertEquals((await browser.json("/me")).user.id, "1");
    assertEquals(server.errors, []);
  }
});

Deno.test("Providers that nobody has, and credentials that are none, are refused by their code", async () => {
  await using server = await startAuth({
    providers: [
      ...keys().providers!,
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
  }, [{
    path: "/raw",
    async action({ request, context }) {
      const [provider, credentials] = await request.json();
      return await getAuth(context).signIn(provider, credentials);
    },
  }]);
  const browser = server.browser();
  const refused: [unknown, unknown, number, string][] = [
    ["nobody", {}, 400, "UNKNOWN_PROVIDER"],
    ["__proto__", {}, 400, "UNKNOWN_PROVIDER"],
    ["constructor", {}, 400, "UNKNOWN_PROVIDER"],
    ["", {}, 400, "UNKNOWN_PROVIDER"],
    [null, {}, 400, "UNKNOWN_PROVIDER"],
    [["credentials"], {}, 400, "UNKNOWN_PROVIDER"],
    [{ toString: 1, valueOf: 1 }, {}, 400, "UNKNOWN_PROVIDER"],
    ["x".repeat(100_000), {}, 400, "UNKNOWN_PROVIDER"],
    ["credentials", {}, 401, "INVALID_CREDENTIALS"],
    ["credentials", { user: "mallory" }, 401, "INVALID_CREDENTIALS"],
    ["credentials", { user: ["mallory"] }, 401, "INVALID_CREDENTIALS"],
    ["credentials", null, 401, "INVALID_CREDENTIALS"],
    ["credentials", "ada", 401, "INVALID_CREDENTIALS"],
    ["credentials", 1, 401, "INVALID_CREDENTIALS"],
    ["credentials", [], 401, "INVALID_CREDENTIALS"],
    ["apiKey", { apiKey: ["k-815"] }, 401, "INVALID_CREDENTIALS"],
    ["apiKey", { apiKey: "" }, 401, "INVALID_CREDENTIALS"],
    // A ready-made user is none that a provider has found.
    ["somewhere", { id: "1", roles: ["admin"] }, 401, "INVALID_CREDENTIALS"],
    ["somewhere", { user: USERS["ada"] }, 401, "INVALID_CREDENTIALS"],
  ];
  for (const [provider, body, status, code] of refused) {
    const response = await browser.ask("/raw", { body: [provider, body] });
    const text = await response.text();
    assertEquals([response.status, browser.received], [status, []], text);
    assertEquals(JSON.parse(text).error.code, code);
    assertLess(text.length, 300);
  }
  const allowed = await browser.ask("/raw", {
    body: ["apiKey", { apiKey: "k-815" }],
  });
  assertEquals((await allowed.json()).userId, "2");
  assertEquals(server.errors, []);
});

Deno.test("An AuthError is answered with its status, Retry-After and no cause", async () => {
  const attempts: SignInAttempt[] = [];
  let wait: number | undefined = 12.3;
  const succeeded: SignInAttempt[] = [];
  await using server = await startAuth({
    signInLimiter: {
      check(attempt) {
        attempts.push(attempt);
        return wait;
      },
      succeeded: (attempt) => void succeeded.push(attempt),
    },
  }, [{
    path: "/fail",
    action() {
      throw new AuthError("OAUTH_FAILED", "It has failed", {
        cause: new Error("with secret s3cr3t"),
      });
    },
  }, {
    path: "/misconfigured",
    action() {
      throw new AuthError("CONFIG", "secret of the server: s3cr3t");
    },
  }]);
  const browser = server.browser();
  const limited = await browser.ask("/sign-in", { body: { user: "ada" } });
  assertEquals(limited.status, 429);
  assertEquals(limited.headers.get("retry-after"), "13");
  assertEquals((await limited.json()).error.code, "RATE_LIMITED");
  assertEquals(attempts, [{
    provider: "credentials",
    credentials: { user: "ada" },
    address: "127.0.0.1",
  }]);
  assertEquals(succeeded, []);

  wait = undefined;
  const failed = await browser.ask("/sign-in", { body: { user: "mallory" } });
  assertEquals(failed.status, 401);
  assertEquals(await failed.json(), {
    error: { code: "INVALID_CREDENTIALS", message: "Invalid credentials" },
  });
  assertEquals(succeeded, []);
  await (await browser.ask("/sign-in", { body: { user: "ada" } })).text();
  assertEquals(succeeded.length, 1);

  const failure = await browser.ask("/fail", { method: "POST" });
  assertEquals([failure.status, await failure.json()], [502, {
    error: { code: "OAUTH_FAILED", message: "It has failed" },
  }]);
  const config = await browser.ask("/misconfigured", { method: "POST" });
  assertEquals(config.status, 500);
  assert(!(await config.text()).includes("s3cr3t"));
  assertEquals(server.errors.length, 1, "the log knows");
});

Deno.test("Only settings that are safe make a plugin", () => {
  const wrong: [AuthConfig, string][] = [
    [{}, "session.secret"],
    [{ session: {} as never }, "session.secret"],
    [{ session: { secret: "" } }, "session.secret"],
    [{ session: { secret: [] } }, "session.secret"],
    [{ session: { secret: [SECRET, ""] } }, "session.secret[1]"],
    [{ session: { secret: 1 as never } }, "session.secret"],
    [{ session: { secret: null as never } }, "session.secret"],
    [{ secret: "" }, "session.secret"],
    [{ session: { secret: SECRET, strategy: "JWT" as never } }, "strategy"],
    ...[0, -1, NaN, Infinity, "60" as never, null as never].map((
      maxAge,
    ): [AuthConfig, string] => [
      { session: { secret: SECRET, maxAge } },
      "session.maxAge",
    ]),
    [{ session: { secret: SECRET, updateAge: -1 } }, "session.updateAge"],
    [{ session: { secret: SECRET, absoluteMaxAge: 0 } }, "absoluteMaxAge"],
    [{ session: { secret: SECRET, clockTolerance: -1 } }, "clockTolerance"],
    [{ session: { secret: SECRET, issuer: "" } }, "session.issuer"],
    [{ session: { secret: SECRET, audience: [] as never } }, "audience"],
    [
      { session: { secret: SECRET }, providers: [byName(), byName()] },
      'two providers have the id "credentials"',
    ],
    [
      { session: { secret: SECRET }, providers: [{} as never] },
      "without an id",
    ],
    [
      { session: { secret: SECRET }, providers: [null as never] },
      "without an id",
    ],
    [
      {
        session: { secret: SECRET },
        providers: [{ id: "a", name: "A", type: "credentials" } as never],
      },
      "a function authorize",
    ],
  ];
  for (const [config, message] of wrong) {
    const error = assertThrows(
      () => createAuthPlugin(config),
      AuthError,
      message,
    );
    assertEquals(error.code, "CONFIG");
    assert(!error.message.includes(SECRET));
  }
});

Deno.test("In production secrets are long, and there is no mock provider", () => {
  const short = "only thirty-one bytes of secret";
  assertEquals(short.length, 31);
  const make = (secret: string | string[]) =>
    createAuthPlugin({ session: { secret } });
  make(short);
  mock();
  for (
    const [name, value] of [
      ["DENO_ENV", "production"],
      ["NODE_ENV", "production"],
      ["DENO_DEPLOYMENT_ID", "abc"],
    ] as const
  ) {
    Deno.env.set(name, value);
    try {
      for (const secret of [short, [SECRET, short]]) {
        const error = assertThrows(() => make(secret), AuthError, "32 bytes");
        assert(!error.message.includes(short));
      }
      make(`${short}!`);
      // Bytes count, not characters.
      make("ü".repeat(16));
      assertEquals(assertThrows(() => mock(), AuthError).code, "CONFIG");
    } finally {
      Deno.env.delete(name);
    }
  }
});

Deno.test("An environment that can't be read counts as production", async () => {
  const script = `
    import { createAuthPlugin, mock } from "@quartet/kit/auth";
    const short = () => createAuthPlugin({ session: { secret: "short" } });
    for (const make of [mock, short]) {
      try {
        make();
        console.log("made");
      } catch (error) {
        console.log(error.code);
      }
    }`;
  for (
    const [permissions, expected] of [
      [["--allow-env"], "made\nmade\n"],
      [[], "CONFIG\nCONFIG\n"],
      [["--allow-env=HOME"], "CONFIG\nCONFIG\n"],
    ] as const
  ) {
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--no-check", "--no-prompt", ...permissions, "-"],
      cwd: ROOT,
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const writer = process.stdin.getWriter();
    await writer.write(new TextEncoder().encode(script));
    await writer.close();
    const { stdout } = await process.output();
    assertEquals(new TextDecoder().decode(stdout), expected);
  }
});

Deno.test("debug tells what happens, without tokens, cookies, keys, codes, state or ids of sessions", async () => {
  const routes: Route[] = [
    {
      path: "/start",
      loader: ({ context }) =>
        getOAuthUrl(context, "somewhere", "https://app.example/callback"),
    },
    {
      path: "/callback",
      async loader({ request, context }) {
        const { searchParams } = new URL(request.url);
        return await handleOAuthCallback(context, "somewhere", {
          code: searchParams.get("code")!,
          state: searchParams.get("state")!,
          redirectUri: "https://app.example/callback",
        });
      },
    },
    { path: "/guarded", config: { ...requireAuth() }, loader: () => "in" },
  ];
  for (const strategy of STRATEGIES) {
    const secrets: string[] = [SECRET, "k-815", "wrong-key-4711", "hunter2"];
    const text = await logged(async () => {
      await using server = await startAuth({
        debug: true,
        session: { strategy, updateAge: 60, maxAge: 600 },
        providers: [
          ...keys().providers!,
          oauth({
            id: "somewhere",
            name: "Somewhere",
            clientId: "client",
            clientSecret: "secret of the client",
            authorizationUrl: "https://somewhere.example/authorize",
            // Nobody listens there.
            tokenUrl: "http://127.0.0.1:1/token",
            userInfoUrl: "http://127.0.0.1:1/me",
          }),
        ],
      }, routes);
      const browser = server.browser();
      const ask = async (...args: Parameters<typeof browser.ask>) => {
        const response = await browser.ask(...args);
        const text = await response.text();
        for (const { value } of browser.cookies.values()) secrets.push(value);
        return text;
      };
      const me = async () => {
        const { session, token }: Me = JSON.parse(await ask("/me"));
        secrets.push(token!, session!["sessionId"] as string);
      };
      await ask("/guarded");
      await ask("/sign-in", { body: { user: "mallory", password: "hunter2" } });
      await ask("/sign-in", { body: { user: "ada", password: "hunter2" } });
      await me();
      server.clock.pass(61);
      await me();
      await ask("/me", { headers: { "x-api-key": "wrong-key-4711" } });
      await ask("/me?key=k-815");
      await ask("/me", { headers: { authorization: "Bearer wrong-key-4711" } });
      await ask("/me", { headers: { cookie: `${COOKIE}=wrong-key-4711` } });
      const url = new URL(JSON.parse(await ask("/start")));
      const state = url.searchParams.get("state")!;
      secrets.push(state, url.searchParams.get("code_challenge")!);
      secrets.push("c0de-4711");
      await ask(`/callback?code=c0de-4711&state=${state}`);
      await ask(`/callback?code=c0de-4711&state=${state}`);
      await ask(`/callback?code=c0de-4711&state=s${state.slice(1)}`);
      await ask("/sign-in", { body: { user: "bob" } });
      await me();
      if (strategy !== "jwt") await server.plugin.revokeSessions("2");
      await ask("/me");
      await ask("/sign-in", { body: { user: "bob" } });
      await ask("/sign-out", { method: "POST" });
      assertEquals(server.errors, []);
    });
    const types = text.split("\n").map((line) =>
      /\[auth\] (\w+)/.exec(line)?.[1]
    );
    assertEquals(
      [...new Set(types)].sort(),
      [
        "access_denied",
        "oauth_started",
        "session_refreshed",
        "session_rejected",
        ...(strategy === "jwt" ? [] : ["sessions_revoked"]),
        "sign_in",
        "sign_in_failed",
        "sign_out",
      ],
      text,
    );
    for (const secret of secrets) {
      assert(!text.includes(secret), `${secret}\n${text}`);
      // Nor the part of it that opens something.
      for (const part of secret.split(".")) {
        assert(part.length < 5 || !text.includes(part), `${part}\n${text}`);
      }
    }
  }
});

Deno.test("Nobody can forge a line of the log, nor act on the terminal that shows it", async () => {
  const name = "x\n[auth] sign_in {}\x1b[2J\r\u2028\u202e\x9b";
  const text = await logged(async () => {
    await using server = await startAuth({
      debug: true,
      providers: [credentials({
        authorize: ({ user }) => Promise.resolve({ id: String(user) }),
      })],
    });
    const browser = server.browser();
    const response = await browser.ask("/sign-in", { body: { user: name } });
    assertEquals((await response.json()).userId, name);
    await (await browser.ask("/sign-in", { body: { provider: name } })).text();
  });
  assertEquals(text.split("\n").length, 1, text);
  // deno-lint-ignore no-control-regex -- that is what is looked for
  assert(!/[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e]/.test(text), text);
});

Deno.test("Without debug nothing is logged", async () => {
  const text = await logged(async () => {
    await using server = await startAuth();
    const browser = await server.signIn();
    await (await browser.ask("/sign-out", { method: "POST" })).text();
    await (await browser.ask("/me", { headers: { cookie: `${COOKIE}=x` } }))
      .text();
  });
  assertEquals(text, "");
});

Deno.test("onEvent that throws disturbs nobody, and the log knows", async () => {
  for (
    const onEvent of [
      () => {
        throw new Error("The audit log is full");
      },
      () => Promise.reject(new Error("The audit log is full")),
    ]
  ) {
    const text = await logged(async () => {
      await using server = await startAuth({ onEvent });
      const browser = await server.signIn();
      assertEquals((await browser.json("/me")).user.id, "1");
    });
    assert(text.includes("The audit log is full"), text);
  }
});

Deno.test("Hostile headers make nobody else of a request, and no error", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ ...keys(), session: { strategy } });
    for (
      const authorization of [
        "",
        " ",
        "Bearer",
        "Bearer\t",
        "Bearer ".repeat(500),
        `Bearer ${".".repeat(4000)}`,
        `Bearer ${"\xff".repeat(100)}`,
        "Bearer null",
        "Bearer undefined",
        "Bearer [object Object]",
        'Bearer {"alg":"none"}',
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.",
        "Basic OjpBOg==",
        "Negotiate x",
        ",",
        "=",
      ]
    ) {
      const response = await fetch(`${server.origin}/me`, {
        headers: { authorization },
      });
      assertEquals(response.status, 200, authorization);
      assertEquals((await response.json()).session, null, authorization);
    }
    assertEquals(server.errors, []);
  }
});

Deno.test("Hundreds of thousands of different pieces of garbage leave nothing in memory", async () => {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "-A",
      "--no-check",
      "--v8-flags=--expose-gc",
      new URL("drive_garbage.ts", import.meta.url).href,
    ],
  }).output();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const { asked, grown } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(asked, 360_000);
  // Of each piece there are at least 44 characters.
  assertLess(grown, 1024 * 1024);
});
