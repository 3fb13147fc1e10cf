import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { oauth } from "@quartet/kit/auth";
import type { OAuthOptions, OAuthTokens, User } from "@quartet/kit/auth";
import type { LocalProvider } from "./oauth_setup.ts";
import {
  ANSWER,
  CALLBACK,
  CLIENT,
  scriptedFetch,
  signIn,
  startProvider,
} from "./oauth_setup.ts";

const OPTIONS: OAuthOptions = {
  id: "any",
  name: "Any",
  clientId: CLIENT.id,
  clientSecret: CLIENT.secret,
  authorizationUrl: "https://provider.example/authorize",
  tokenUrl: "https://provider.example/token",
  userInfoUrl: "https://provider.example/userinfo",
};

/** Creates a provider whose endpoints return the test's answers. */
function scripted(
  answers: Readonly<Record<string, unknown>>,
  given: Partial<OAuthOptions> = {},
  requests: Request[] = [],
) {
  const all = { "/token": { access_token: "the-token" }, ...answers };
  return { ...OPTIONS, ...given, fetch: scriptedFetch(all, requests) };
}

/** Options for the local Google server. */
function localOptions(local: LocalProvider): OAuthOptions {
  const { jwksUrl: _, ...rest } = local.google;
  return { id: "local", name: "Local", ...rest };
}

Deno.test("oauth() signs in with any OAuth server and its user's fields", async () => {
  await using local = startProvider();
  const provider = oauth({
    ...localOptions(local),
    scope: ["email", "profile"],
  });
  assertEquals(await signIn(provider, "ada"), {
    id: "1815",
    name: "Ada Lovelace",
    email: "ada@example.com",
  });
  assertEquals((await signIn(provider, "mallory")).email, undefined);
  assertEquals([provider.id, provider.type], ["local", "oauth"]);
  assertEquals(await provider.authorize({ id: "1", user: { id: "1" } }), null);
});

Deno.test("Without profile(), only id, name and verified e-mail are used", async () => {
  const cases: [Record<string, unknown>, User][] = [
    [{ sub: "a" }, { id: "a" }],
    [{ id: "a" }, { id: "a" }],
    [{ sub: "a", id: "b" }, { id: "a" }],
    [{ id: 7 }, { id: "7" }],
    [{ id: 0 }, { id: "0" }],
    [
      { sub: "a", roles: ["admin"], isAdmin: true, name: "A" },
      { id: "a", name: "A" },
    ],
    [{ sub: "a", email: "a@example.com" }, { id: "a" }],
    [{ sub: "a", email: "a@example.com", email_verified: "true" }, { id: "a" }],
    [{ sub: "a", email: "a@example.com", email_verified: 1 }, { id: "a" }],
    [
      { sub: "a", email: "a@example.com", email_verified: true },
      { id: "a", email: "a@example.com" },
    ],
    [{ sub: "a", email: ["x"], email_verified: true, name: {} }, { id: "a" }],
  ];
  for (const [info, expected] of cases) {
    const provider = oauth(scripted({ "/userinfo": info }));
    const user = await provider.handleCallback!(ANSWER);
    assertEquals(user, { name: undefined, email: undefined, ...expected });
  }
  for (
    const info of [
      {},
      { sub: "" },
      { sub: null, id: "" },
      { id: 2 ** 53 },
      { id: 1.5 },
      { sub: ["a"] },
      { sub: { id: "a" } },
    ]
  ) {
    const provider = oauth(scripted({ "/userinfo": info }));
    const error = await provider.handleCallback!(ANSWER)
      .then(() => undefined, (error) => error);
    assertMatch(error.message, /^the provider returned neither sub nor id/);
  }
});

Deno.test("profile() gets standard claims of the standard types only", async () => {
  const claims = {
    sub: 7,
    name: "Ada Lovelace",
    given_name: "Ada",
    email: ["ada@example.com"],
    email_verified: "true",
    picture: null,
    locale: { language: "en" },
    tenant: { id: 3 },
  };
  const provider = oauth({
    ...scripted({ "/userinfo": claims }),
    profile(profile) {
      assertEquals(profile, {
        sub: "7",
        name: "Ada Lovelace",
        given_name: "Ada",
        tenant: { id: 3 },
      });
      const id: string | undefined = profile.sub;
      const first: string | undefined = profile.given_name;
      const isVerified: boolean | undefined = profile.email_verified;
      const tenant: unknown = profile["tenant"];
      return { id: id!, first, isVerified, tenant };
    },
  });
  assertEquals(await provider.handleCallback!(ANSWER), {
    id: "7",
    first: "Ada",
    isVerified: undefined,
    tenant: { id: 3 },
  });
});

Deno.test("userInfoUrl identifies the user, and profileUrl adds fields", async () => {
  const answers = {
    "/userinfo": { sub: "a", name: "A", email_verified: false },
    "/me": { name: "other", email: "a@example.com", email_verified: true },
  };
  const requests: Request[] = [];
  const seen: Record<string, unknown>[] = [];
  const profile = (profile: Record<string, unknown>) => {
    seen.push(profile);
    return { id: "1" };
  };
  const profileUrl = "https://provider.example/me";
  const both = scripted(answers, { profileUrl }, requests);
  await oauth({ ...both, profile }).handleCallback!(ANSWER);
  const { userInfoUrl: _, ...alone } = both;
  await oauth({ ...alone, profile }).handleCallback!(ANSWER);
  const { profileUrl: __, ...none } = alone;
  await oauth({ ...none, profile }).handleCallback!(ANSWER);
  assertEquals(seen, [
    { sub: "a", name: "A", email: "a@example.com", email_verified: false },
    answers["/me"],
    {},
  ]);
  const paths = requests.map(({ url }) => new URL(url).pathname);
  assertEquals(paths, [
    "/token",
    "/userinfo",
    "/me",
    "/token",
    "/me",
    "/token",
  ]);
  for (const { headers, url } of requests) {
    const isToken = url.endsWith("/token");
    const expected = isToken ? null : "Bearer the-token";
    assertEquals(headers.get("authorization"), expected);
  }
});

Deno.test("An e-mail address counts as verified only with a claim from the same endpoint", async () => {
  const profileUrl = "https://provider.example/me";
  const email = "ada@example.com";
  const other = "mallory@example.com";
  const verified = { email_verified: true };
  const cases: readonly [info: object, more: object, expected?: string][] = [
    [{ email, ...verified }, {}, email],
    [{}, { email, ...verified }, email],
    [{ email }, { email, ...verified }, email],
    [{ ...verified }, { email, ...verified }, email],
    [{ email, ...verified }, { email: other, email_verified: false }, email],
    // One endpoint has the address, the other one the claim.
    [{ email }, { email: other, ...verified }],
    [{ email }, { ...verified }],
    [{ ...verified }, { email }],
    [{ ...verified }, { email, email_verified: false }],
    [{ email_verified: false }, { email, ...verified }],
    [{ email, email_verified: false }, { email, ...verified }],
  ];
  for (const [info, more, expected] of cases) {
    const answers = {
      "/userinfo": { sub: "a", ...info },
      "/me": { sub: "a", ...more },
    };
    const options = scripted(answers, { profileUrl });
    const user = await oauth(options).handleCallback!(ANSWER);
    assertEquals(user?.email, expected, JSON.stringify(answers));
    const seen = await oauth({
      ...options,
      profile: (profile) => ({ id: "a", profile }),
    }).handleCallback!(ANSWER);
    const isVerified = seen?.profile["email_verified"] === true;
    assertEquals(isVerified, expected !== undefined);
  }
});

Deno.test("oauth() rejects endpoints that return different users", async () => {
  const profileUrl = "https://provider.example/me";
  const provider = oauth(scripted({
    "/userinfo": { sub: "a" },
    "/me": { sub: "b" },
  }, { profileUrl }));
  const error = await provider.handleCallback!(ANSWER)
    .then(() => undefined, (error) => error);
  assertEquals(
    error.message,
    "the provider's endpoints returned different users",
  );
});

Deno.test("profile() receives the tokens", async () => {
  await using local = startProvider();
  let given: OAuthTokens | undefined;
  const provider = oauth({
    ...localOptions(local),
    scope: ["openid"],
    profile(profile, tokens) {
      given = tokens;
      return { id: `local:${profile["sub"]}` };
    },
  });
  assertEquals((await signIn(provider, "ada")).id, "local:1815");
  assertMatch(given!.accessToken, /^[\w-]{36}$/);
  assertMatch(given!.idToken!, /^[\w-]+\.[\w-]+\.[\w-]+$/);
  assertEquals([given!.expiresIn, given!.scope], [3599, "openid"]);
  assertEquals(given!.refreshToken, undefined);
});

Deno.test("idToken makes oauth() verify the id token", async () => {
  await using local = startProvider();
  const options: OAuthOptions = {
    ...localOptions(local),
    scope: ["openid", "email"],
    idToken: {
      issuer: "https://accounts.google.com",
      jwksUrl: local.google.jwksUrl,
    },
  };
  const provider = oauth(options);
  assertEquals((await signIn(provider, "ada")).email, "ada@example.com");

  local.server.google.idTokenFault = { claims: { nonce: "another" } };
  const error = await signIn(provider, "ada").catch((error) => error);
  assertEquals(
    error.cause.message,
    "the id_token is not for this sign-in: nonce",
  );
  local.server.google.idTokenFault = undefined;
  local.server.google.userInfoSubject = "666";
  const mixed = await signIn(provider, "ada").catch((error) => error);
  assertMatch(mixed.cause.message, /returned different users/);
});

Deno.test("Id tokens must be signed with one of the allowed algorithms", async () => {
  await using local = startProvider();
  local.server.google.rotate("PS256");
  const issuer = "https://accounts.google.com";
  const { jwksUrl } = local.google;
  for (const algorithms of [["PS256"], ["RS256", "PS256"], ["RS256"], []]) {
    const provider = oauth({
      ...localOptions(local),
      scope: ["openid"],
      idToken: algorithms.length === 0
        ? { issuer, jwksUrl }
        : { issuer, jwksUrl, algorithms },
    });
    const user = await signIn(provider, "ada").catch((error) => error.code);
    const isAllowed = algorithms.includes("PS256");
    assertEquals(user.id ?? user, isAllowed ? "1815" : "OAUTH_FAILED");
  }
});

Deno.test("The client secret is sent as clientAuthentication says", async () => {
  for (const clientAuthentication of ["body", "basic"] as const) {
    const requests: Request[] = [];
    const provider = oauth(
      scripted({ "/userinfo": { sub: "a" } }, {
        clientAuthentication,
        clientId: "id:with+signs é",
      }, requests),
    );
    await provider.handleCallback!({ ...ANSWER, codeVerifier: "v" });
    const [request] = requests;
    const form = new URLSearchParams(await request!.text());
    const header = request!.headers.get("authorization");
    const common = {
      grant_type: "authorization_code",
      code: "c",
      redirect_uri: CALLBACK,
      code_verifier: "v",
    };
    assertEquals(request!.method, "POST");
    if (clientAuthentication === "body") {
      assertEquals(header, null);
      assertEquals(Object.fromEntries(form), {
        ...common,
        client_id: "id:with+signs é",
        client_secret: CLIENT.secret,
      });
    } else {
      assertEquals(Object.fromEntries(form), common);
      // RFC 6749, section 2.3.1: each half is form-encoded.
      assertEquals(
        atob(header!.replace(/^Basic /, "")),
        "id%3Awith%2Bsigns+%C3%A9:the+secret+%26+of+the+client%3D%25",
      );
    }
  }
});

Deno.test("oauth() rejects invalid options and says why", () => {
  const { userInfoUrl: _, ...nothing } = OPTIONS;
  const cases: [unknown, string][] = [
    [{ ...OPTIONS, id: undefined }, "id must be a non-empty string"],
    [{ ...OPTIONS, id: "" }, 'id must be a non-empty string, received ""'],
    [{ ...OPTIONS, name: 5 }, "name must be a non-empty string, received 5"],
    [{ ...OPTIONS, clientId: "" }, "clientId must be a non-empty string"],
    [
      { ...OPTIONS, clientSecret: undefined },
      "clientSecret must be a non-empty string, received undefined",
    ],
    [
      { ...OPTIONS, clientSecret: 815 },
      "clientSecret must be a non-empty string, received a number",
    ],
    [{ ...OPTIONS, tokenUrl: undefined }, "tokenUrl must be an https URL"],
    [
      { ...OPTIONS, authorizationUrl: undefined },
      "authorizationUrl must be an https URL",
    ],
    [nothing, "userInfoUrl, profileUrl or profile must be given"],
    [{ ...nothing, profileUrl: "/me" }, "profileUrl must be an https URL"],
    [{ ...OPTIONS, profile: {} }, "profile must be a function"],
    [{ ...OPTIONS, scope: "openid" }, "scope must be an array of strings"],
    [{ ...OPTIONS, scope: ["a b"] }, "scope[0] must be a string without"],
    [{ ...OPTIONS, scope: ["a", 5] }, "scope[1] must be a string without"],
    [
      { ...OPTIONS, timeout: 0 },
      "timeout must be a number of seconds above 0",
    ],
    [
      { ...OPTIONS, timeout: NaN },
      "timeout must be a number of seconds above 0",
    ],
    [
      { ...OPTIONS, timeout: Infinity },
      "timeout must be a number of seconds above 0",
    ],
    [{ ...OPTIONS, fetch: "no" }, "fetch must be a function"],
    [
      { ...OPTIONS, redirectUri: "/callback" },
      "redirectUri must be an absolute http or https URL",
    ],
    [
      { ...OPTIONS, clientAuthentication: "jwt" },
      'clientAuthentication must be one of "body", "basic", received "jwt"',
    ],
    [
      {
        ...OPTIONS,
        scope: ["openid"],
        idToken: {
          issuer: "i",
          jwksUrl: "https://a.example",
          algorithms: ["HS256"],
        },
      },
      "idToken.algorithms must be an array of public-key algorithms",
    ],
    [
      {
        ...OPTIONS,
        idToken: { issuer: "i", jwksUrl: "https://a.example" },
      },
      'scope must be one with "openid"',
    ],
  ];
  for (const [options, message] of cases) {
    assertThrows(
      () => oauth(options as OAuthOptions),
      TypeError,
      `Cannot create OAuth provider: ${message}`,
    );
  }
});

Deno.test("Secrets are sent over TLS or to localhost only", () => {
  for (
    const tokenUrl of [
      "https://provider.example/token",
      "http://localhost:1/token",
      "http://oauth.localhost/token",
      "http://127.0.0.1:8080/token",
      "http://127.1.2.3/token",
      "http://[::1]:8080/token",
    ]
  ) {
    oauth({ ...OPTIONS, tokenUrl });
  }
  for (
    const tokenUrl of [
      "http://provider.example/token",
      "http://localhost.evil.example/token",
      "http://127.0.0.1.evil.example/token",
      "http://localhost@evil.example/token",
      "http://10.0.0.1/token",
      "https://user:password@provider.example/",
      "https://provider.example/#x",
      "https://provider.example\\@evil.example/",
      "https://provider.example/\n",
      "ftp://provider.example/",
      "javascript:alert(1)",
      "//provider.example/token",
      "provider.example",
      5,
    ]
  ) {
    assertThrows(
      () => oauth({ ...OPTIONS, tokenUrl: tokenUrl as string }),
      TypeError,
      "tokenUrl must be an https URL",
    );
  }
});
