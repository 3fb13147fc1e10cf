/**
 * Hostile requests authenticate nobody, cause no errors and leave nothing in
 * memory.
 *
 * @module
 */

import { assert, assertEquals, assertLess } from "@std/assert";
import { AuthError, getAuth, oauth } from "@quartet/kit/auth";
import type { SignInAttempt } from "@quartet/kit/auth";
import { byKey, byName, startAuth, STRATEGIES, USERS } from "./harness.ts";
import type { Me } from "./harness.ts";

Deno.test("A valid API key authenticates only its own request; a missing, empty or ambiguous one doesn't", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      providers: [byName(), byKey()],
      session: { strategy },
    });
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
    assertEquals(good.token, null, "a key creates no session");
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
    // The key takes precedence over the cookie and doesn't change it.
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

Deno.test("signIn() rejects unknown providers and invalid credentials with their codes", async () => {
  await using server = await startAuth({
    providers: [
      byName(),
      byKey(),
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
    // An OAuth provider must not accept a ready-made user.
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

Deno.test("signIn() with a FormData, a Map or a promise says what it expects", async () => {
  const ofForm = "of a form, Object.fromEntries(await request.formData())";
  const bodies: [body: unknown, received: string][] = [
    [new FormData(), `FormData; ${ofForm}`],
    [new URLSearchParams("user=ada"), `URLSearchParams; ${ofForm}`],
    [new Map([["user", "ada"]]), `Map; ${ofForm}`],
    [Promise.resolve({ user: "ada" }), "Promise; await it"],
  ];
  await using server = await startAuth({}, [{
    path: "/raw/:index",
    action: ({ context, params }) => {
      const [body] = bodies[Number(params["index"])]!;
      return getAuth(context).signIn(
        "credentials",
        body as Record<string, unknown>,
      );
    },
  }]);
  for (const [index, [, received]] of bodies.entries()) {
    const response = await server.browser().ask(`/raw/${index}`, { body: {} });
    assertEquals(response.status, 500);
    assertEquals((await response.json()).error.code, "INTERNAL_ERROR");
    assertEquals(
      String(server.errors.at(-1)),
      `TypeError: Cannot sign in: credentials must be a plain object, received ${received}`,
    );
  }
});

Deno.test("An AuthError is answered with its status and Retry-After, without its cause", async () => {
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
      throw new TypeError("secret of the server: s3cr3t");
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

Deno.test("Hostile headers authenticate nobody and cause no errors", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      providers: [byName(), byKey()],
      session: { strategy },
    });
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

Deno.test("360,000 different invalid credentials leave nothing in memory", async () => {
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
  const { asked, growth } = JSON.parse(new TextDecoder().decode(stdout));
  assertEquals(asked, 360_000);
  // 3 bytes for each of a round's 45,000 pieces, which have at least 44
  // characters.
  assertLess(growth, 135_000);
});
