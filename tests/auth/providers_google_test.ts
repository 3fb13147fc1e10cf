import { assert, assertEquals, assertMatch } from "@std/assert";
import { google, presetIdentity } from "@quartet/kit/auth";
import type { GoogleOptions } from "@quartet/kit/auth";
import type { IdTokenFault } from "../../examples/hillside/mod.ts";
import { CALLBACK, CLIENT, signIn, startProvider } from "./oauth_setup.ts";

const OPTIONS: GoogleOptions = {
  clientId: CLIENT.id,
  clientSecret: CLIENT.secret,
};

Deno.test("Google signs in with the verified address", async () => {
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  assertEquals(await signIn(provider, "ada"), {
    id: "1815",
    name: "Ada Lovelace",
    email: "ada@example.com",
    picture: "https://lh3.googleusercontent.com/a/1815",
    hostedDomain: "example.com",
  });
  assertEquals(await signIn(provider, "mallory"), {
    id: "666",
    name: undefined,
    email: undefined,
    picture: undefined,
    hostedDomain: undefined,
  });
});

Deno.test("Google receives the documented defaults", () => {
  const provider = presetIdentity({ ...OPTIONS, hostedDomain: "example.com" });
  const url = new URL(
    provider.getAuthorizationUrl!("s", CALLBACK, {
      codeChallenge: "c",
      nonce: "n",
    }),
  );
  assertEquals(
    url.origin + url.pathname,
    "https://accounts.google.com/o/oauth2/v2/auth",
  );
  assertEquals(Object.fromEntries(url.searchParams), {
    hd: "example.com",
    response_type: "code",
    client_id: CLIENT.id,
    redirect_uri: CALLBACK,
    scope: "openid email profile",
    state: "s",
    code_challenge: "c",
    code_challenge_method: "S256",
    nonce: "n",
  });
  assertEquals(google, presetIdentity);
  const { id, name, type } = google(OPTIONS);
  assertEquals([id, name, type], ["google", "Google", "oauth"]);
});

/** Replaces the first character of a part. */
function change(token: string, part: number): string {
  const parts = token.split(".");
  const text = parts[part]!;
  parts[part] = text.slice(0, 9) + (text[9] === "A" ? "B" : "A") +
    text.slice(10);
  return parts.join(".");
}

function withHeader(token: string, header: unknown): string {
  const text = btoa(JSON.stringify(header)).replace(/=+$/, "");
  return [text, ...token.split(".").slice(1)].join(".");
}

const PAST = 1_600_000_000;

Deno.test("An id token with any invalid claim or signature fails the sign-in", async () => {
  const cases: Readonly<Record<string, [IdTokenFault, RegExp]>> = {
    "no token": [{ change: () => undefined }, /returned no id_token/],
    "no nonce": [{ claims: { nonce: undefined } }, /: nonce$/],
    "another nonce": [{ claims: { nonce: "n".repeat(43) } }, /: nonce$/],
    "nonce in an array": [{ claims: { nonce: ["n"] } }, /: nonce$/],
    "another issuer": [{ claims: { iss: "https://evil.example" } }, /"iss"/],
    "almost the issuer": [
      { claims: { iss: "https://accounts.google.com/" } },
      /"iss"/,
    ],
    "no issuer": [{ claims: { iss: undefined } as never }, /"iss"/],
    "another audience": [{ claims: { aud: "another-client" } }, /"aud"/],
    "no audience": [{ claims: { aud: undefined } as never }, /"aud"/],
    "two audiences": [
      { claims: { aud: [CLIENT.id, "another-client"] } },
      /: aud$/,
    ],
    "another party": [{ claims: { azp: "another-client" } }, /: azp$/],
    "expired": [{ claims: { iat: PAST, exp: PAST + 3600 } }, /"exp"/],
    "no expiry": [{ claims: { exp: undefined } as never }, /"exp"/],
    "not yet": [{ claims: { nbf: 9_999_999_999 } }, /"nbf"/],
    "no time": [{ claims: { iat: undefined } as never }, /"iat"/],
    "no subject": [{ claims: { sub: undefined } as never }, /"sub"/],
    "empty subject": [{ claims: { sub: "" } }, /: sub$/],
    "number as subject": [{ claims: { sub: 1815 as never } }, /: sub$/],
    "another key": [{ isForeign: true }, /signature/],
    "changed payload": [{ change: (token) => change(token, 1) }, /verified/],
    "changed signature": [{ change: (token) => change(token, 2) }, /signature/],
    "alg none": [
      {
        change: (token) => withHeader(token, { alg: "none" }),
      },
      /alg/,
    ],
    "alg HS256": [
      {
        change: (token) => withHeader(token, { alg: "HS256", typ: "JWT" }),
      },
      /alg/,
    ],
    "no signature": [
      { change: (token) => token.replace(/[^.]*$/, "") },
      /verified/,
    ],
    "garbage": [{ change: () => "garbage" }, /verified/],
    "one megabyte": [
      { change: (token) => `${token}${"A".repeat(1000 * 1000)}` },
      /verified/,
    ],
  };
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  for (const [name, [fault, reason]] of Object.entries(cases)) {
    local.server.google.idTokenFault = fault;
    const error = await signIn(provider, "ada").then(
      () => new Error("It has not failed"),
      (error) => error,
    );
    assertEquals(error.code, "OAUTH_FAILED", `${name}: ${error}`);
    assertMatch(error.cause.message, reason, name);
    assertMatch(error.cause.message, /^the (id_token|token endpoint) /, name);
    const text = Deno.inspect(error, { depth: 10 });
    assert(!text.includes("ada@example.com"), text);
  }
  // None of these requested the user-info endpoint.
  assert(!local.server.seen.some(({ path }) => path.endsWith("/userinfo")));
});

Deno.test("Google's issuer is accepted in both spellings, and the audience as string or array", async () => {
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  for (
    const claims of [
      { iss: "accounts.google.com" },
      { aud: [CLIENT.id] },
      { azp: undefined },
    ]
  ) {
    local.server.google.idTokenFault = { claims: claims as never };
    assertEquals((await signIn(provider, "ada")).id, "1815");
  }
});

Deno.test("The issuer's clock may differ by 30 seconds", async () => {
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  const trySignIn = (difference: number, claim: "exp" | "nbf" | "iat") => {
    const time = Math.floor(Date.now() / 1000) + difference;
    local.server.google.idTokenFault = { claims: { [claim]: time } as never };
    return signIn(provider, "ada").then(
      ({ id }) => id,
      (error) => error.cause.message,
    );
  };
  // Half of the tolerance is left for a slow test.
  assertEquals(await trySignIn(-15, "exp"), "1815");
  assertMatch(await trySignIn(-31, "exp"), /"exp"/);
  assertEquals(await trySignIn(30, "nbf"), "1815");
  assertMatch(await trySignIn(600, "nbf"), /"nbf"/);
  assertEquals(await trySignIn(30, "iat"), "1815");
});

Deno.test("issuer accepts id tokens of that issuer instead of Google's", async () => {
  await using local = startProvider();
  const issuer = "https://accounts.example";
  const provider = presetIdentity({ ...local.google, issuer });
  const error = await signIn(provider, "ada").catch((error) => error);
  assertEquals(error.code, "OAUTH_FAILED");
  assertMatch(error.cause.message, /"iss"/);
  local.server.google.idTokenFault = { claims: { iss: issuer } };
  assertEquals((await signIn(provider, "ada")).id, "1815");
});

Deno.test("Google's id tokens must be signed with RS256", async () => {
  await using local = startProvider();
  local.server.google.rotate("PS256");
  const error = await signIn(presetIdentity(local.google), "ada")
    .catch((error) => error);
  assertMatch(error.cause.message, /verified: "alg"/);
});

Deno.test("An id token's nonce must match its sign-in", async () => {
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  const error = await signIn({
    ...provider,
    handleCallback: (callback) =>
      provider.handleCallback!({ ...callback, nonce: undefined }),
  }, "ada").catch((error) => error);
  assertEquals(
    error.cause.message,
    "the id_token is not for this sign-in: nonce",
  );
});

Deno.test("The user-info endpoint must return the id token's user", async () => {
  await using local = startProvider();
  local.server.google.userInfoSubject = "1906";
  const error = await signIn(presetIdentity(local.google), "ada")
    .catch((error) => error);
  assertEquals(
    error.cause.message,
    "the user-info endpoint returned another user than the id_token",
  );
});

Deno.test("An address counts as verified only by the source it came from", async () => {
  await using local = startProvider();
  const provider = presetIdentity(local.google);
  // The id token has an unverified address; user info has a verified one.
  for (
    const [claims, email] of [
      [{ email: "x@example.com", email_verified: false }, "ada@example.com"],
      [{ email: "x@example.com", email_verified: "true" }, "ada@example.com"],
      [{ email: undefined, email_verified: true }, "ada@example.com"],
      [{ email: "x@example.com", email_verified: true }, "x@example.com"],
    ] as const
  ) {
    local.server.google.idTokenFault = { claims };
    assertEquals((await signIn(provider, "ada")).email, email);
  }
});

Deno.test("hostedDomain accepts one organization, by its claim only", async () => {
  await using local = startProvider();
  const provider = presetIdentity({
    ...local.google,
    hostedDomain: "Example.com",
  });
  assertEquals((await signIn(provider, "ada")).hostedDomain, "example.com");
  // Mallory's address is of that domain, but her account isn't.
  for (const login of ["grace", "mallory"]) {
    const error = await signIn(provider, login).catch((error) => error);
    assertEquals([error.code, error.status], ["INVALID_CREDENTIALS", 401]);
    assertMatch(error.cause.message, /organization of hostedDomain/);
  }
  for (const hd of ["evil.example", "sub.example.com", "", ["example.com"]]) {
    local.server.google.idTokenFault = { claims: { hd } };
    const error = await signIn(provider, "ada").catch((error) => error);
    assertEquals(error.code, "INVALID_CREDENTIALS");
  }
});

Deno.test("Google's keys are cached, and fetched again after they change", async () => {
  await using local = startProvider();
  const { google: server } = local.server;
  const provider = presetIdentity(local.google);
  const users = await Promise.all(
    ["ada", "grace", "mallory", "ada"].map((login) => signIn(provider, login)),
  );
  assertEquals(users.map(({ id }) => id), ["1815", "1906", "666", "1815"]);
  assertEquals(server.keyRequests, 1);

  server.rotate();
  // They are fetched at most once within 30 seconds.
  const error = await signIn(provider, "ada").catch((error) => error);
  assertMatch(error.cause.message, /no applicable key found/);
  assertEquals(server.keyRequests, 1);

  using _ = clockAhead(31_000);
  assertEquals((await signIn(provider, "ada")).id, "1815");
  assertEquals(server.keyRequests, 2);
});

/** Advances the clock that `Date.now()` reads. */
function clockAhead(ms: number): Disposable {
  const { now } = Date;
  Date.now = () => now() + ms;
  return {
    [Symbol.dispose]() {
      Date.now = now;
    },
  };
}
