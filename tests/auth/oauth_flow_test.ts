import { assert, assertEquals, assertMatch, assertThrows } from "@std/assert";
import { AuthError } from "@quartet/kit/auth";
import type { AuthProvider, OAuthCallback, User } from "@quartet/kit/auth";
import type { OAuthCallbackParameters } from "../../auth/oauth/callback.ts";
import { CALLBACK, Jar, SECRET, timedFlow } from "./oauth_setup.ts";

/** A provider that accepts every sign-in and records its calls. */
interface FakeProvider extends AuthProvider<User> {
  readonly callbacks: OAuthCallback[];
}

function fakeProvider(
  given: Partial<AuthProvider<User>> = {},
): FakeProvider {
  const callbacks: OAuthCallback[] = [];
  return {
    id: "fake",
    name: "Fake",
    type: "oauth",
    callbacks,
    authorize: () => Promise.resolve(null),
    getAuthorizationUrl(state, redirectUri, parameters) {
      const url = new URL("https://provider.example/authorize");
      url.search = new URLSearchParams({
        state,
        redirect_uri: redirectUri,
        challenge: parameters!.codeChallenge,
        nonce: parameters!.nonce,
      }).toString();
      return url.href;
    },
    handleCallback(callback) {
      callbacks.push(callback);
      return Promise.resolve({ id: "1" });
    },
    ...given,
  };
}

/** Creates a flow and a browser that has begun a sign-in. */
function begun(provider = fakeProvider()) {
  const flow = timedFlow();
  const jar = new Jar();
  const { url, cookies } = flow.begin(provider, CALLBACK, null);
  jar.take(cookies);
  const parameters = new URL(url).searchParams;
  const answer = {
    code: "the-code-of-it",
    state: parameters.get("state")!,
    redirectUri: CALLBACK,
  };
  return { flow, jar, provider, parameters, answer, cookies };
}

/** Returns why a sign-in fails: the code, and the reason for the log. */
async function failure(user: Promise<unknown>): Promise<string> {
  const error = await user.then(
    () => new Error("It has not failed"),
    (error) => error,
  );
  assert(error instanceof AuthError, String(error));
  const { code, cause } = error;
  return `${code}: ${cause instanceof Error ? cause.message : cause}`;
}

Deno.test("A sign-in ends in the browser that began it", async () => {
  const { flow, jar, provider, answer, cookies } = begun();
  const end = flow.finish(provider, answer, jar.header);
  assertEquals(await end.user, { id: "1" });
  const [name] = [...jar.cookies.keys()];
  assertEquals(name, `app.session.oauth.${answer.state.slice(0, 16)}`);
  jar.take(end.cookies);
  assertEquals(jar.cookies.size, 0);
  assertEquals(cookies.length, 1);
  assertMatch(
    cookies[0]!,
    /; HttpOnly; Max-Age=600; SameSite=Lax; Path=\/$/,
  );
});

Deno.test("State, verifier and nonce are random and bound to each other", async () => {
  const { flow, jar, provider, parameters, answer } = begun();
  await flow.finish(provider, answer, jar.header).user;
  const [callback] = provider.callbacks;
  const { codeVerifier = "", nonce = "", state } = callback!;
  for (const value of [state, codeVerifier, nonce]) {
    assertMatch(value, /^[\w-]{43}$/);
  }
  assertEquals(new Set([state, codeVerifier, nonce]).size, 3);
  assertEquals(parameters.get("nonce"), nonce);
  const hash = await crypto.subtle.digest(
    "SHA-256",
    new TextEncoder().encode(codeVerifier),
  );
  assertEquals(
    parameters.get("challenge"),
    new Uint8Array(hash).toBase64({ alphabet: "base64url", omitPadding: true }),
  );
  assertEquals(callback!.code, answer.code);
  assertEquals(callback!.redirectUri, CALLBACK);

  const again = begun();
  assert(again.answer.state !== state);
  assert(again.parameters.get("nonce") !== nonce);
});

Deno.test("The flow cookie hides its content", () => {
  const { cookies, parameters } = begun();
  const value = /=([^;]*)/.exec(cookies[0]!)![1]!;
  const bytes = atob(value.replace(/-/g, "+").replace(/_/g, "/"));
  for (const text of ["fake", "verifier", parameters.get("nonce")!]) {
    assert(!bytes.includes(text) && !value.includes(text));
  }
});

Deno.test("The flow cookie has the session cookie's attributes, except path and SameSite", () => {
  const flow = timedFlow({
    name: "__Secure-id",
    secure: true,
    domain: "app.example",
    path: "/account",
    sameSite: "strict",
    httpOnly: false,
  });
  const { cookies } = flow.begin(fakeProvider(), CALLBACK, null);
  assertMatch(cookies[0]!, /^__Secure-id\.oauth\.[\w-]{16}=/);
  const attributes = cookies[0]!.split("; ").slice(1).sort();
  assertEquals(attributes, [
    "Domain=app.example",
    "HttpOnly",
    "Max-Age=600",
    "Path=/",
    "SameSite=Lax",
    "Secure",
  ]);
});

Deno.test("A missing, malformed or wrong state fails the sign-in", async () => {
  const { flow, jar, provider, answer } = begun();
  const { state } = answer;
  const states: unknown[] = [
    undefined,
    null,
    "",
    0,
    {},
    [],
    [state],
    { toString: () => state },
    state.slice(0, -1),
    `${state}=`,
    `${state} `,
    ` ${state}`,
    state.toUpperCase() + "\n",
    "x".repeat(1024 * 1024),
    "\u0000".repeat(43),
    "é".repeat(43),
  ];
  for (const state of states) {
    const end = flow.finish(
      provider,
      { ...answer, state } as OAuthCallbackParameters,
      jar.header,
    );
    assertEquals(
      await failure(end.user),
      "OAUTH_STATE_MISMATCH: the state is not one that we make",
    );
    assertEquals(end.cookies, []);
  }
  // The cookie name of a valid state with another ending.
  const other = state.slice(0, 16) + begun().answer.state.slice(16);
  const end = flow.finish(provider, { ...answer, state: other }, jar.header);
  assertEquals(
    await failure(end.user),
    "OAUTH_STATE_MISMATCH: the state is not the one in its cookie",
  );
  assertEquals(provider.callbacks.length, 0);
});

Deno.test("A missing, malformed or oversized code never reaches the provider", async () => {
  for (
    const code of [
      undefined,
      null,
      "",
      1,
      {},
      ["the-code-of-it"],
      "a\r\nb",
      "é",
      "x".repeat(1024 * 1024),
    ]
  ) {
    const { flow, jar, provider, answer } = begun();
    const end = flow.finish(
      provider,
      { ...answer, code } as OAuthCallbackParameters,
      jar.header,
    );
    assertMatch(await failure(end.user), /^OAUTH_STATE_MISMATCH: the code /);
    assertEquals(provider.callbacks.length, 0);
  }
});

Deno.test("A state is used only once, even with a copy of the cookie", async () => {
  const { flow, jar, provider, answer } = begun();
  const copy = jar.header;
  const ends = Array.from(
    { length: 20 },
    () => flow.finish(provider, answer, copy),
  );
  const results = await Promise.allSettled(ends.map(({ user }) => user));
  const won = results.filter(({ status }) => status === "fulfilled");
  assertEquals(won.length, 1);
  assertEquals(provider.callbacks.length, 1);
  for (const minutes of [0, 5, 4.9]) {
    flow.pass(minutes * 60_000);
    assertEquals(
      await failure(flow.finish(provider, answer, copy).user),
      "OAUTH_STATE_MISMATCH: the state was used before",
    );
  }
});

Deno.test("A used state is remembered as long as its cookie is valid", async () => {
  const { flow, jar, provider, answer } = begun();
  await flow.finish(provider, answer, jar.header).user;
  // At any later minute, so also when the replay guard drops old states.
  for (let minute = 0; minute < 60; minute++) {
    flow.pass(60_000);
    const { url, cookies } = flow.begin(provider, CALLBACK, null);
    const later = new Jar();
    later.take(cookies);
    const state = new URL(url).searchParams.get("state")!;
    const again = { ...answer, state };
    await flow.finish(provider, again, later.header).user;
    flow.pass(9 * 60_000);
    assertEquals(
      await failure(flow.finish(provider, again, later.header).user),
      "OAUTH_STATE_MISMATCH: the state was used before",
    );
  }
});

Deno.test("A failed sign-in uses up its state", async () => {
  let calls = 0;
  const provider = fakeProvider({
    handleCallback: () => {
      calls++;
      return Promise.reject(new Error("down"));
    },
  });
  const { flow, jar, answer } = begun(provider);
  const first = flow.finish(provider, answer, jar.header);
  assertEquals(await failure(first.user), "OAUTH_FAILED: down");
  assertEquals(
    await failure(flow.finish(provider, answer, jar.header).user),
    "OAUTH_STATE_MISMATCH: the state was used before",
  );
  assertEquals(calls, 1);
  jar.take(first.cookies);
  assertEquals(jar.cookies.size, 0);
});

Deno.test("Another browser can't finish a sign-in", async () => {
  const { flow, provider, answer } = begun();
  for (const header of [null, "", "app.session=x", begun().jar.header]) {
    assertMatch(
      await failure(flow.finish(provider, answer, header).user),
      /^OAUTH_STATE_MISMATCH: the browser has no cookie for the state: /,
    );
  }
  assertEquals(provider.callbacks.length, 0);
});

Deno.test("Another provider or redirect URI can't finish a sign-in", async () => {
  const other = fakeProvider({ id: "other" });
  {
    const { flow, jar, answer } = begun();
    assertEquals(
      await failure(flow.finish(other, answer, jar.header).user),
      'OAUTH_STATE_MISMATCH: the sign-in was begun with provider "fake", not "other"',
    );
  }
  for (
    const redirectUri of [
      undefined,
      null,
      "",
      [CALLBACK],
      `${CALLBACK}/`,
      `${CALLBACK}?x`,
      CALLBACK.replace("http:", "https:"),
      "x".repeat(1024 * 1024),
    ]
  ) {
    const { flow, jar, provider, answer } = begun();
    const changed = { ...answer, redirectUri } as OAuthCallbackParameters;
    assertEquals(
      await failure(flow.finish(provider, changed, jar.header).user),
      "OAUTH_STATE_MISMATCH: the redirect URI is not the one that the sign-in was begun with",
    );
    assertEquals(provider.callbacks.length, 0);
  }
});

Deno.test("A sign-in expires after 10 minutes", async () => {
  for (
    const [ms, isLate] of [[599_999, false], [600_000, true], [9e8, true]]
  ) {
    const { flow, jar, provider, answer } = begun();
    flow.pass(Number(ms));
    const { user } = flow.finish(provider, answer, jar.header);
    if (isLate) {
      assertMatch(
        await failure(user),
        /^OAUTH_STATE_MISMATCH: the sign-in was begun \d+ s ago, and only 600 s are allowed$/,
      );
    } else assertEquals(await user, { id: "1" });
  }
});

Deno.test("A changed or forged flow cookie fails the sign-in", async () => {
  const { flow, jar, provider, answer } = begun();
  const [[name, value]] = [...jar.cookies] as [[string, string]];
  const end = value.endsWith("A") ? "B" : "A";
  for (
    const forged of [
      "",
      "x",
      value.slice(0, -1) + end,
      `${value}A`,
      `${value}=`,
      `%${value}`,
      value.slice(4),
      "e30.e30.e30",
      "x".repeat(100_000),
    ]
  ) {
    const { user, cookies } = flow.finish(
      provider,
      answer,
      `${name}=${forged}`,
    );
    assertEquals(
      await failure(user),
      "OAUTH_STATE_MISMATCH: the cookie for the state was not made with any of our secrets, or was changed",
    );
    // Invalid cookies are cleared.
    assertEquals(cookies.length, 1);
    assertMatch(cookies[0]!, /; Max-Age=0/);
  }
  const two = `${name}=${value}; ${name}=${value.slice(4)}`;
  assertEquals(
    await failure(flow.finish(provider, answer, two).user),
    "OAUTH_STATE_MISMATCH: the browser has several cookies for the state",
  );
  const other = timedFlow({}, "another secret of thirty-two bytes");
  assertMatch(
    await failure(other.finish(provider, answer, jar.header).user),
    /not made with any of our secrets/,
  );
  assertEquals(provider.callbacks.length, 0);
});

Deno.test("A sign-in survives a rotation of the secret", async () => {
  const { jar, provider, answer } = begun();
  const flow = timedFlow({}, ["the next secret of thirty-two bytes", SECRET]);
  const { user } = flow.finish(provider, answer, jar.header);
  assertEquals(await user, { id: "1" });
});

Deno.test("Concurrent sign-ins in several tabs work, and the browser keeps few cookies", async () => {
  const flow = timedFlow();
  const jar = new Jar();
  const provider = fakeProvider();
  const states: string[] = [];
  for (let i = 0; i < 30; i++) {
    const { url, cookies } = flow.begin(provider, CALLBACK, jar.header);
    jar.take(cookies);
    states.push(new URL(url).searchParams.get("state")!);
    flow.pass(1_000);
    assert(jar.cookies.size <= 8);
  }
  assertEquals(jar.cookies.size, 8);
  const answerOf = (state: string) => ({
    code: "c",
    state,
    redirectUri: CALLBACK,
  });
  for (const state of states.slice(-8).reverse()) {
    const end = flow.finish(provider, answerOf(state), jar.header);
    assertEquals(await end.user, { id: "1" });
    jar.take(end.cookies);
  }
  assertEquals(jar.cookies.size, 0);
  assertMatch(
    await failure(
      flow.finish(provider, answerOf(states[0]!), jar.header).user,
    ),
    /no cookie for the state/,
  );
});

Deno.test("Beginning a sign-in clears invalid flow cookies only", () => {
  const flow = timedFlow();
  const jar = new Jar();
  jar.take(flow.begin(fakeProvider(), CALLBACK, null).cookies);
  const [late] = [...jar.cookies.keys()];
  flow.pass(600_000);
  const garbage = "app.session.oauth.0123456789abcdef";
  jar.cookies.set(garbage, "%E0%A4%A");
  for (
    const name of ["app.session", "app.session.0", "app.session.oauth.x", "x"]
  ) {
    jar.cookies.set(name, "1");
  }
  const { cookies } = flow.begin(fakeProvider(), CALLBACK, jar.header);
  const names = cookies.map((value) => value.split("=", 1)[0]);
  assertEquals(names.slice(0, -1), [late, garbage]);
  jar.take(cookies);
  assertEquals(jar.cookies.size, 5);
});

Deno.test("A sign-in clears only a few invalid cookies at a time", async () => {
  const { flow, jar, provider, answer } = begun();
  const [value] = [...jar.cookies.values()];
  const garbage: string[] = [];
  for (let i = 0; i < 100; i++) {
    const number = `${i}`.padStart(3, "0");
    garbage.push(`app.session.oauth.of-no-use----${number}`);
    jar.cookies.set(garbage.at(-1)!, i % 2 === 0 ? "x" : value!.slice(4));
  }
  const end = flow.finish(provider, answer, jar.header);
  assertEquals(await end.user, { id: "1" });
  assertEquals(end.cookies.length, 1);
  jar.take(end.cookies);
  for (let round = 0; round < 5; round++) {
    const header = garbage.map((name) => `${name}=x`).join("; ");
    const { cookies } = flow.begin(provider, CALLBACK, header);
    const names = cookies.map((value) => value.split("=", 1)[0]!);
    assertEquals(names.slice(0, -1), garbage.splice(0, 20));
    assertEquals(cookies.length, 21);
  }
  for (let i = 0; i < 10; i++) {
    jar.take(flow.begin(provider, CALLBACK, jar.header).cookies);
  }
  assert(jar.cookies.size <= 8, `${jar.cookies.size}`);
});

Deno.test("redirectUri must be an absolute http(s) URL, and the provider's own takes precedence", async () => {
  const flow = timedFlow();
  for (
    const redirectUri of [
      undefined,
      null,
      "",
      "/auth/callback",
      "//app.example/callback",
      "https:/app.example",
      "https:app.example",
      "javascript:alert(1)",
      "data:text/html,x",
      "ftp://app.example/",
      "https://app.example/#fragment",
      "https://app.example/#",
      "https://user@app.example/",
      "https://user:password@app.example/",
      "https://app.example\\@evil.example/",
      "https://app.example/\r\nx",
      " https://app.example/",
      "https://ex ample/",
      "https://[::1",
      "https://",
      `https://app.example/${"x".repeat(2000)}`,
      ["https://app.example/"],
    ]
  ) {
    assertThrows(
      () => flow.begin(fakeProvider(), redirectUri as string, null),
      TypeError,
      "Cannot begin sign-in: redirectUri must be an absolute http or https URL",
    );
  }
  const own = fakeProvider({ redirectUri: CALLBACK });
  assertThrows(
    () => flow.begin(own, "https://evil.example/", null),
    TypeError,
    'Cannot begin sign-in: redirectUri must be "http://127.0.0.1:9/auth/callback", the only one',
  );
  for (const given of [undefined, CALLBACK]) {
    const jar = new Jar();
    const { url, cookies } = flow.begin(own, given, null);
    jar.take(cookies);
    const { searchParams } = new URL(url);
    assertEquals(searchParams.get("redirect_uri"), CALLBACK);
    const answer = { code: "c", state: searchParams.get("state")! };
    assertEquals(await flow.finish(own, answer, jar.header).user, { id: "1" });
  }
});

Deno.test("A refusal and a failure of the provider have different codes, and both hide its text", async () => {
  const cases: [() => Promise<User | null>, string][] = [
    [() => Promise.resolve(null), "INVALID_CREDENTIALS: undefined"],
    [() => Promise.reject(new Error("words")), "OAUTH_FAILED: words"],
    [() => Promise.reject("words"), "OAUTH_FAILED: words"],
    [
      () =>
        Promise.reject(new AuthError("INVALID_CREDENTIALS", "words of theirs")),
      "OAUTH_FAILED: words of theirs",
    ],
    [
      () => {
        throw new Error("words");
      },
      "OAUTH_FAILED: words",
    ],
  ];
  for (const [handleCallback, expected] of cases) {
    const { flow, jar, provider, answer } = begun(
      fakeProvider({ handleCallback }),
    );
    const { user } = flow.finish(provider, answer, jar.header);
    assertEquals(await failure(user), expected);
    const error: AuthError = await user.then(
      () => Promise.reject(),
      (error) => error,
    );
    const text = await error.toResponse().text();
    assert(!text.includes("words"), text);
  }
});

Deno.test("Providers without OAuth can't begin or finish an OAuth sign-in", async () => {
  const flow = timedFlow();
  const provider: AuthProvider<User> = {
    id: "credentials",
    name: "Credentials",
    type: "credentials",
    authorize: () => Promise.resolve({ id: "1" }),
  };
  const error = assertThrows(
    () => flow.begin(provider, CALLBACK, null),
    AuthError,
  );
  assertEquals(error.code, "UNKNOWN_PROVIDER");
  const { jar, answer } = begun();
  const { user } = flow.finish(provider, answer, jar.header);
  assertMatch(await failure(user), /^UNKNOWN_PROVIDER/);
});

Deno.test("Reasons in the log contain no state, code or verifier", async () => {
  const { flow, jar, provider, answer } = begun();
  const other = fakeProvider({ id: "other" });
  const header = jar.header;
  const attempts = [
    flow.finish(provider, { ...answer, state: `${answer.state}x` }, header),
    flow.finish(other, answer, header),
    flow.finish(provider, answer, header),
    flow.finish(provider, answer, null),
    flow.finish(provider, { ...answer, redirectUri: "x" }, header),
  ];
  for (const { user } of attempts) {
    const text = Deno.inspect(await user.catch((error) => error));
    for (const secret of [answer.state, answer.code, header!.split("=")[1]!]) {
      assert(!text.includes(secret), text);
    }
  }
});
