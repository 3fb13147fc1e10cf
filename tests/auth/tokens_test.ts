/**
 * Hostile tokens. Each is a valid token of an existing session with one change
 * and a valid signature. The unchanged token is accepted in the same test.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  createMemorySessionStore,
  getOAuthUrl,
  oauth,
} from "@quartet/kit/auth";
import type { SessionStrategy } from "@quartet/kit/auth";
import {
  base64url,
  claimsOf,
  createClock,
  forge,
  HEADER,
  OTHER_SECRET,
  SECRET,
  sign,
  startAuth,
  STRATEGIES,
} from "./harness.ts";
import type { AuthServer, Me, TestConfig } from "./harness.ts";

const COOKIE = "app.session";
type Claims = Record<string, unknown>;

/** Returns the headers that can carry a token with this strategy. */
function waysToShow(strategy: SessionStrategy) {
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
  const cookie = (token: string) => ({ cookie: `${COOKIE}=${token}` });
  // With the strategy `cookie`, the cookie contains no token.
  return strategy === "cookie" ? [bearer] : [bearer, cookie];
}

async function ask(
  { origin, errors }: AuthServer,
  headers: Record<string, string>,
): Promise<Me> {
  const response = await fetch(`${origin}/me`, { headers });
  assertEquals(response.status, 200, JSON.stringify(headers));
  assertEquals(errors, []);
  return await response.json();
}

async function goodToken(server: AuthServer): Promise<string> {
  const { token }: Me = await (await server.signIn()).json("/me");
  return token!;
}

/**
 * Asserts for each strategy that changed tokens are anonymous, while the
 * unchanged token is accepted before and after.
 */
async function refusesAll(
  make: (
    claims: Claims,
    server: AuthServer,
    token: string,
  ) => Record<string, string | Promise<string>>,
  config: TestConfig = {},
): Promise<void> {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      ...config,
      session: { ...config.session, strategy },
    });
    const token = await goodToken(server);
    const claims = claimsOf(token);
    const honest = await forge(claims);
    for (const show of waysToShow(strategy)) {
      assertEquals((await ask(server, show(honest))).user?.id, "1");
      for (const [what, made] of Object.entries(make(claims, server, token))) {
        const { session } = await ask(server, show(await made));
        assertEquals(session, null, `${strategy}: ${what}`);
      }
      assertEquals((await ask(server, show(honest))).user?.id, "1");
    }
  }
}

/** Asserts for each strategy that changed tokens are accepted. */
async function acceptsAll(
  make: (
    claims: Claims,
    server: AuthServer,
  ) => Record<string, string | Promise<string>>,
  config: TestConfig = {},
): Promise<void> {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      ...config,
      session: { ...config.session, strategy },
    });
    const claims = claimsOf(await goodToken(server));
    for (const show of waysToShow(strategy)) {
      for (const [what, made] of Object.entries(make(claims, server))) {
        const { user } = await ask(server, show(await made));
        assertEquals(user?.id, "1", `${strategy}: ${what}`);
      }
    }
  }
}

Deno.test("A token with another algorithm is anonymous, whatever its header says", async () => {
  await refusesAll((claims) => ({
    "none without signature": `${base64url('{"alg":"none"}')}.${
      base64url(JSON.stringify(claims))
    }.`,
    none: forge(claims, { ...HEADER, alg: "none" }),
    None: forge(claims, { ...HEADER, alg: "None" }),
    hs256: forge(claims, { ...HEADER, alg: "hs256" }),
    "a valid HS384": forge(
      claims,
      { ...HEADER, alg: "HS384" },
      SECRET,
      "SHA-384",
    ),
    "a valid HS512": forge(
      claims,
      { ...HEADER, alg: "HS512" },
      SECRET,
      "SHA-512",
    ),
    "HS384 with HS256": forge(claims, { ...HEADER, alg: "HS384" }),
    RS256: forge(claims, { ...HEADER, alg: "RS256" }),
    missing: forge(claims, { typ: "JWT" }),
    null: forge(claims, { alg: null, typ: "JWT" }),
    "in an array": forge(claims, { alg: ["HS256"], typ: "JWT" }),
    "HS256 by SHA-512": forge(claims, HEADER, SECRET, "SHA-512"),
  }));
});

Deno.test("A token with any other header is anonymous", async () => {
  const jwk = { kty: "oct", k: base64url(OTHER_SECRET) };
  await refusesAll((claims) => ({
    crit: forge(claims, { ...HEADER, crit: ["exp"] }),
    "empty crit": forge(claims, { ...HEADER, crit: [] }),
    b64: forge(claims, { ...HEADER, b64: false, crit: ["b64"] }),
    kid: forge(claims, { ...HEADER, kid: "1" }),
    "kid with a path": forge(claims, { ...HEADER, kid: "../../dev/null" }),
    "embedded jwk": forge(claims, { ...HEADER, jwk }, OTHER_SECRET),
    "an embedded jwk": forge(claims, { ...HEADER, jwk }),
    jku: forge(claims, { ...HEADER, jku: "https://evil.example/keys" }),
    x5c: forge(claims, { ...HEADER, x5c: [] }),
    cty: forge(claims, { ...HEADER, cty: "JWT" }),
    "typ at+jwt": forge(claims, { ...HEADER, typ: "at+jwt" }),
    "typ JWE": forge(claims, { ...HEADER, typ: "JWE" }),
    "typ null": forge(claims, { ...HEADER, typ: null }),
    __proto__: forge(claims, '{"alg":"HS256","__proto__":{"typ":"JWT"}}'),
    "an array": forge(claims, [HEADER]),
    "a string": forge(claims, '"HS256"'),
    "null header": forge(claims, "null"),
    "no JSON": forge(claims, "{"),
    "a byte order mark": forge(claims, `\ufeff${JSON.stringify(HEADER)}`),
    "invalid UTF-8": forge(claims, new Uint8Array([0x7b, 0xff, 0x7d])),
  }));
  await acceptsAll((claims) => ({
    "typ first": forge(claims, { typ: "JWT", alg: "HS256" }),
    "without typ": forge(claims, { alg: "HS256" }),
  }));
});

Deno.test("A token without exp, or at or after exp, is anonymous", async () => {
  await refusesAll(({ exp, ...claims }, { clock }) => ({
    missing: forge(claims),
    null: forge({ ...claims, exp: null }),
    "a string": forge({ ...claims, exp: String(exp) }),
    "an array": forge({ ...claims, exp: [exp] }),
    zero: forge({ ...claims, exp: 0 }),
    negative: forge({ ...claims, exp: -1 }),
    past: forge({ ...claims, exp: clock.seconds - 1 }),
    now: forge({ ...claims, exp: clock.seconds }),
    "beyond all dates": forge({ ...claims, exp: 1e300 }),
    infinite: forge(
      JSON.stringify({ ...claims, exp: 7 }).replace("7", "1e999"),
    ),
  }));
  await acceptsAll(({ exp: _, ...claims }, { clock }) => ({
    "a second left": forge({ ...claims, exp: clock.seconds + 1 }),
    "a tenth left": forge({ ...claims, exp: clock.seconds + 0.1 }),
  }));
});

Deno.test("An accepted token is anonymous from the second it expires", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, maxAge: 100, updateAge: 100 },
    });
    const token = await goodToken(server);
    for (const show of waysToShow(strategy)) {
      assertEquals((await ask(server, show(token))).user?.id, "1");
    }
    server.clock.pass(99);
    for (const show of waysToShow(strategy)) {
      assertEquals((await ask(server, show(token))).user?.id, "1");
    }
    server.clock.pass(1);
    for (const show of waysToShow(strategy)) {
      assertEquals((await ask(server, show(token))).session, null);
    }
  }
});

Deno.test("A token from the future is anonymous", async () => {
  await refusesAll(({ iat, ...claims }, { clock }) => ({
    "nbf in a second": forge({ ...claims, iat, nbf: clock.seconds + 1 }),
    "nbf a string": forge({ ...claims, iat, nbf: "0" }),
    "nbf null": forge({ ...claims, iat, nbf: null }),
    "iat in a second": forge({ ...claims, iat: clock.seconds + 1 }),
    "iat missing": forge(claims),
    "iat a string": forge({ ...claims, iat: String(iat) }),
    "iat null": forge({ ...claims, iat: null }),
  }));
  await acceptsAll((claims, { clock }) => ({
    "nbf now": forge({ ...claims, nbf: clock.seconds }),
    "iat before": forge({ ...claims, iat: clock.seconds - 5 }),
  }));
});

Deno.test("clockTolerance accepts clock differences up to its value", async () => {
  const config = { session: { clockTolerance: 5 } };
  await acceptsAll((claims, { clock }) => ({
    "iat in 5 s": forge({ ...claims, iat: clock.seconds + 5 }),
    "nbf in 5 s": forge({ ...claims, nbf: clock.seconds + 5 }),
    "exp 4 s ago": forge({ ...claims, exp: clock.seconds - 4 }),
  }), config);
  await refusesAll((claims, { clock }) => ({
    "iat in 6 s": forge({ ...claims, iat: clock.seconds + 6 }),
    "nbf in 6 s": forge({ ...claims, nbf: clock.seconds + 6 }),
    "exp 5 s ago": forge({ ...claims, exp: clock.seconds - 5 }),
  }), config);
});

Deno.test("clockTolerance applies to the end of sessions in all strategies", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, maxAge: 100, updateAge: 200, clockTolerance: 5 },
    });
    const browser = await server.signIn();
    const cookie = `app.session=${browser.cookies.get("app.session")!.value}`;
    const me = async () => {
      const other = server.browser();
      return (await other.json("/me", { headers: { cookie } })).session;
    };
    server.clock.pass(104);
    assertEquals((await me())?.userId, "1", strategy);
    if (strategy !== "jwt") {
      const [session] = await server.plugin.listSessions("1");
      assertEquals(session?.expiresAt, new Date("2026-03-01T12:01:40Z"));
    }
    server.clock.pass(1);
    assertEquals(await me(), null, strategy);
  }
});

Deno.test("A token without a valid user id is anonymous", async () => {
  await refusesAll(({ sub, ...claims }) => ({
    "sub missing": forge(claims),
    "sub empty": forge({ ...claims, sub: "" }),
    "sub null": forge({ ...claims, sub: null }),
    "sub a number": forge({ ...claims, sub: 1 }),
    "sub an array": forge({ ...claims, sub: [sub] }),
    "an array": forge([{ ...claims, sub }]),
    "an array with the claims": forge([]),
    null: forge("null"),
    "a string": forge(JSON.stringify(JSON.stringify({ ...claims, sub }))),
    "a number": forge("1"),
    nothing: forge(""),
    "no JSON": forge("{sub:1}"),
    "a byte order mark": forge(
      `\ufeff${JSON.stringify({ ...claims, sub })}`,
    ),
    "invalid UTF-8": forge(
      new Uint8Array([
        ...new TextEncoder().encode(
          JSON.stringify({ ...claims, sub, name: "" }).slice(0, -2),
        ),
        0xc3,
        0x28,
        0x22,
        0x7d,
      ]),
    ),
  }));
});

Deno.test("A token with claims of other types is anonymous", async () => {
  let deep: unknown = 1;
  for (let i = 0; i < 1000; i++) deep = [deep];
  await refusesAll((claims) => ({
    "roles a string": forge({ ...claims, roles: "admin" }),
    "roles an object": forge({ ...claims, roles: { 0: "admin" } }),
    "roles of numbers": forge({ ...claims, roles: [1] }),
    "roles null": forge({ ...claims, roles: null }),
    "email a number": forge({ ...claims, email: 1 }),
    "name an object": forge({ ...claims, name: {} }),
    "provider null": forge({ ...claims, provider: null }),
    "sid a number": forge({ ...claims, sid: 1 }),
    "auth_time a string": forge({ ...claims, auth_time: "0" }),
    "a claim nested 1,000 deep": forge({ ...claims, deep }),
  }));
});

Deno.test("Only tokens for this issuer and audience are accepted", async () => {
  await refusesAll((claims) => ({
    iss: forge({ ...claims, iss: "https://other.example" }),
    "iss null": forge({ ...claims, iss: null }),
    aud: forge({ ...claims, aud: "other" }),
    "aud empty": forge({ ...claims, aud: [] }),
  }));
  const config = { session: { issuer: "us", audience: "app" } };
  await refusesAll(({ iss, aud, ...claims }) => ({
    "no iss": forge({ ...claims, aud }),
    "no aud": forge({ ...claims, iss }),
    "other iss": forge({ ...claims, aud, iss: "them" }),
    "iss in an array": forge({ ...claims, aud, iss: ["us"] }),
    "other aud": forge({ ...claims, iss, aud: "ap" }),
    "longer aud": forge({ ...claims, iss, aud: "app2" }),
    "others in an array": forge({ ...claims, iss, aud: ["a", "p"] }),
    "aud an object": forge({ ...claims, iss, aud: { app: true } }),
  }), config);
  await acceptsAll((claims) => ({
    "one of several": forge({ ...claims, aud: ["other", "app"] }),
  }), config);
});

Deno.test("A token has one spelling: changed tail bits, padding and other alphabets are refused", async () => {
  await refusesAll((claims, _, token) => {
    // A claim that leaves unused bits in its last byte, for each length.
    const texts = ["", "x", "xx"].map((pad) =>
      JSON.stringify({ ...claims, pad })
    );
    const spelled: Record<string, string | Promise<string>> = {};
    for (const text of texts) {
      const payload = base64url(text);
      const unused = payload.length % 4;
      if (unused === 0) continue;
      const loose = payload.slice(0, -1) + after(payload.at(-1)!);
      spelled[`tail bits of the payload (${unused})`] = sign(
        `${base64url(JSON.stringify(HEADER))}.${loose}`,
      );
      spelled[`padding of the payload (${unused})`] = sign(
        `${base64url(JSON.stringify(HEADER))}.${payload}${
          "=".repeat(4 - unused)
        }`,
      );
    }
    const [header, payload, signature] = token.split(".") as [
      string,
      string,
      string,
    ];
    // Contains bits that the standard alphabet encodes as + and /.
    const plain = btoa(JSON.stringify({ ...claims, pad: "~~~???>>>" }))
      .replace(/=+$/, "");
    assert(/[+/]/.test(plain));
    return {
      ...spelled,
      "+ and /": sign(`${header}.${plain}`),
      "tail bits of the signature": `${header}.${payload}.${
        signature.slice(0, -1)
      }${after(signature.at(-1)!)}`,
      "padding of the signature": `${token}=`,
      "a space before": `${header}. ${payload}.${signature}`,
      "a space within": `${header}.${payload.slice(0, 9)} ${
        payload.slice(9)
      }.${signature}`,
      "a signed space": sign(`${header}. ${payload}`),
      "a signed line break, escaped": sign(`${header}.${payload}%0A`),
    };
  });
});

/** Returns the next letter in the alphabet of base64url. */
function after(letter: string): string {
  const ALPHABET =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return ALPHABET[ALPHABET.indexOf(letter) + 1]!;
}

Deno.test("A token with any character changed, removed or doubled is anonymous", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const browser = await server.signIn();
    const { token }: Me = await browser.json("/me");
    const { value } = browser.cookies.get(COOKIE)!;
    const shown: [string, (text: string) => Record<string, string>][] = [
      [token!, (text) => ({ authorization: `Bearer ${text}` })],
      [value, (text) => ({ cookie: `${COOKIE}=${text}` })],
    ];
    for (const [good, show] of shown) {
      const who = async (text: string) => {
        const request = new Request("http://localhost/", {
          headers: show(text),
        });
        return (await server.plugin.authenticate(request)).session?.userId;
      };
      assertEquals(await who(good), "1");
      for (let at = 0; at < good.length; at++) {
        const [before, after] = [good.slice(0, at), good.slice(at + 1)];
        for (
          const other of ["A", "B", "_", ".", "=", "", good[at]!.repeat(2)]
        ) {
          if (other === good[at]) continue;
          const changed = before + other + after;
          assertEquals(await who(changed), undefined, `${other} at ${at}`);
        }
      }
      assertEquals(await who(good), "1");
    }
  }
});

Deno.test("A token must have exactly three non-empty parts", async () => {
  await refusesAll((_claims, _server, token) => {
    const [header, payload, signature] = token.split(".");
    return {
      "no part": "",
      "a dot": ".",
      "two dots": "..",
      "many dots": ".".repeat(1000),
      "one part": `${payload}`,
      "two parts": `${header}.${payload}`,
      "two parts, signed": sign(`${payload}`),
      "four parts": `${token}.`,
      "four parts, full": `${token}.${signature}`,
      "four parts, signed": sign(`${header}.${payload}.${payload}`),
      "no header": `.${payload}.${signature}`,
      "no header, signed": sign(`.${payload}`),
      "no payload": `${header}..${signature}`,
      "no payload, signed": sign(`${header}.`),
      "no signature": `${header}.${payload}.`,
      "signature cut": token.slice(0, -1),
      "signature longer": `${token}A`,
      "signature of zeros": `${header}.${payload}.${"A".repeat(43)}`,
      "one bit of the signature": `${header}.${payload}.${
        signature!.startsWith("A") ? "B" : "A"
      }${signature!.slice(1)}`,
      "twice, with a comma": `${token}, ${token}`,
    };
  });
});

Deno.test("A token of 1 MB is anonymous, one of 8 KiB is accepted", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({ session: { strategy } });
    const claims = claimsOf(await goodToken(server));
    const padded = async (length: number) => {
      const empty = await forge({ ...claims, pad: "" });
      const pad = "x".repeat(Math.floor((length - empty.length) / 4) * 3);
      return await forge({ ...claims, pad });
    };
    // Longer than the headers that a server accepts, so the test calls the
    // plugin directly.
    const who = async (headers: Record<string, string>) => {
      const request = new Request("http://localhost/", { headers });
      return (await server.plugin.authenticate(request)).session?.userId;
    };
    for (const show of waysToShow(strategy)) {
      const good = await padded(8192);
      assert(good.length > 8180 && good.length <= 8192, `${good.length}`);
      assertEquals(await who(show(good)), "1");
      assertEquals(await who(show(await padded(8200))), undefined);
      assertEquals(await who(show(await padded(1_000_000))), undefined);
      assertEquals(await who(show("a".repeat(1_000_000))), undefined);
      assertEquals(await who(show(".".repeat(1_000_000))), undefined);
    }
  }
});

Deno.test("An OAuth flow cookie isn't accepted as a session, nor the reverse", async () => {
  const provider = oauth({
    id: "somewhere",
    name: "Somewhere",
    clientId: "id",
    clientSecret: "secret of the client",
    authorizationUrl: "https://somewhere.example/authorize",
    tokenUrl: "https://somewhere.example/token",
    userInfoUrl: "https://somewhere.example/me",
  });
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy },
      providers: [provider],
    }, [{
      path: "/start",
      loader: ({ context }) =>
        getOAuthUrl(context, "somewhere", "https://app.example/callback"),
    }]);
    const browser = server.browser();
    const url = new URL(await browser.json("/start"));
    const state = url.searchParams.get("state")!;
    const [kept] = [...browser.cookies.values()];
    assert(kept!.value.length > 100);
    for (const text of [state, kept!.value]) {
      for (
        const headers of [
          { authorization: `Bearer ${text}` },
          { cookie: `${COOKIE}=${text}` },
        ]
      ) {
        assertEquals((await ask(server, headers)).session, null);
      }
    }
  }
});

Deno.test("During a rotation, both secrets verify and the first one signs", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, secret: [OTHER_SECRET, SECRET] },
    });
    const token = await goodToken(server);
    const [data, signature] = split(token);
    assertEquals(await sign(data, OTHER_SECRET), token);
    const old = await sign(data, SECRET);
    assert(!old.endsWith(signature));
    for (const show of waysToShow(strategy)) {
      assertEquals((await ask(server, show(token))).user?.id, "1");
      assertEquals((await ask(server, show(old))).user?.id, "1");
      const third = await sign(
        data,
        "a third secret, which no app uses at all",
      );
      assertEquals((await ask(server, show(third))).session, null);
    }
  }
});

Deno.test("After a rotation, the old secret is rejected", async () => {
  for (const strategy of STRATEGIES) {
    await using server = await startAuth({
      session: { strategy, secret: OTHER_SECRET },
    });
    const token = await goodToken(server);
    const old = await sign(split(token)[0], SECRET);
    for (const show of waysToShow(strategy)) {
      assertEquals((await ask(server, show(old))).session, null);
      assertEquals((await ask(server, show(token))).user?.id, "1");
    }
  }
});

Deno.test("A rotation signs nobody out: cookies of the old secret stay valid and are signed again", async () => {
  for (const strategy of STRATEGIES) {
    const clock = createClock();
    const store = strategy === "jwt"
      ? {}
      : { store: createMemorySessionStore({ now: clock.now }) };
    const start = (secret: string | string[]) =>
      startAuth({
        clock,
        session: { strategy, ...store, secret, updateAge: 60 },
      });
    await using before = await start(SECRET);
    const browser = await before.signIn();
    const cookie = `${COOKIE}=${browser.cookies.get(COOKIE)!.value}`;

    await using during = await start([OTHER_SECRET, SECRET]);
    assertEquals((await ask(during, { cookie })).user?.id, "1");
    clock.pass(61);
    const response = await fetch(`${during.origin}/me`, {
      headers: { cookie },
    });
    await response.body?.cancel();
    const [renewed] = response.headers.getSetCookie();

    await using after = await start(OTHER_SECRET);
    assertEquals((await ask(after, { cookie })).session, null);
    const fresh = { cookie: renewed!.split(";")[0]! };
    assertEquals((await ask(after, fresh)).user?.id, "1");
  }
});

function split(token: string): [data: string, signature: string] {
  const dot = token.lastIndexOf(".");
  return [token.slice(0, dot), token.slice(dot + 1)];
}
