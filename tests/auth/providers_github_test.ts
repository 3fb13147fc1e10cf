import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { github, presetCodeHost } from "@quartet/kit/auth";
import type { AuthProvider, GitHubOptions } from "@quartet/kit/auth";
import {
  ANSWER,
  CALLBACK,
  CLIENT,
  scriptedFetch,
  signIn,
  startProvider,
} from "./oauth_setup.ts";

const OPTIONS: GitHubOptions = {
  clientId: CLIENT.id,
  clientSecret: CLIENT.secret,
};
const PARAMETERS = { codeChallenge: "c".repeat(43), nonce: "n".repeat(43) };

/** Splits the authorization URL into address and parameters. */
function authorization<U extends { id: string }>(
  provider: AuthProvider<U>,
): [string, Record<string, string>] {
  const url = new URL(
    provider.getAuthorizationUrl!("the state", CALLBACK, PARAMETERS),
  );
  return [url.origin + url.pathname, Object.fromEntries(url.searchParams)];
}

Deno.test("GitHub signs in with the verified primary address", async () => {
  await using local = startProvider();
  const provider = presetCodeHost(local.github);
  assertEquals(await signIn(provider, "ada"), {
    id: "1815",
    name: "Ada Lovelace",
    email: "ada@example.com",
    login: "ada",
    picture: "https://avatars.githubusercontent.com/u/1815?v=4",
  });
  const { seen } = local.server;
  assertEquals(seen.map(({ method, path }) => `${method} ${path}`), [
    "POST /github/login/oauth/access_token",
    "GET /github/api/v3/user",
    "GET /github/api/v3/user/emails",
  ]);
  for (const { headers } of seen) {
    assertEquals(headers.get("user-agent"), "@quartet/kit");
    assertEquals(headers.get("accept"), "application/json");
    assertEquals(headers.get("cookie"), null);
  }
});

Deno.test("A GitHub user without a verified address or name gets a name but no address", async () => {
  await using local = startProvider();
  const user = await signIn(presetCodeHost(local.github), "mallory");
  assertEquals(user.email, undefined);
  assertEquals(user.name, "mallory");
});

Deno.test("GitHub's e-mail endpoint isn't requested without the user's consent", async () => {
  await using local = startProvider();
  const provider = presetCodeHost({ ...local.github, scope: ["read:user"] });
  assertEquals((await signIn(provider, "ada")).email, undefined);
  assert(!local.server.seen.some(({ path }) => path.endsWith("/emails")));
  const all = presetCodeHost({ ...local.github, scope: ["user"] });
  assertEquals((await signIn(all, "ada")).email, "ada@example.com");
});

Deno.test("A GitHub App has no scopes, and an address if it may read it", async () => {
  await using local = startProvider();
  const provider = presetCodeHost(local.github);
  for (const mayReadEmails of [true, false]) {
    local.server.github.app = { mayReadEmails };
    const user = await signIn(provider, "ada");
    assertEquals(user.email, mayReadEmails ? "ada@example.com" : undefined);
  }
  // Other failures fail the sign-in of an app too.
  local.server.faults.set("/github/api/v3/user/emails", "unauthorized");
  const error = await signIn(provider, "ada").catch((error) => error);
  assertEquals(error.code, "OAUTH_FAILED");
});

Deno.test("If GitHub doesn't list the scopes, the requested ones count as granted", async () => {
  // RFC 6749, section 5.1.
  const fetch = scriptedFetch({
    "/login/oauth/access_token": { access_token: "t" },
    "/user": { id: 1815, login: "ada" },
    "/user/emails": [{ email: "ada@localhost", primary: true, verified: true }],
  });
  const emailOf = async (scope: string[]) => {
    const provider = presetCodeHost({ ...OPTIONS, fetch, scope });
    return (await provider.handleCallback!(ANSWER))?.email;
  };
  assertEquals(await emailOf(["user:email"]), "ada@localhost");
  assertEquals(await emailOf(["read:user"]), undefined);
});

Deno.test("A GitHub user without an id or a login can't sign in", async () => {
  for (
    const user of [
      { login: "ada" },
      { id: "1815", login: "ada" },
      { id: 1815.5, login: "ada" },
      { id: 1815 },
      { id: 1815, login: "" },
    ]
  ) {
    const fetch = scriptedFetch({
      "/login/oauth/access_token": { access_token: "t" },
      "/user": user,
    });
    const error = await assertRejects(() =>
      presetCodeHost({ ...OPTIONS, fetch }).handleCallback!(ANSWER)
    );
    assertEquals(
      (error as Error).message,
      "the user-info endpoint returned no id and login",
    );
  }
});

Deno.test("GitHub receives the documented defaults", () => {
  const [address, parameters] = authorization(presetCodeHost(OPTIONS));
  assertEquals(address, "https://github.com/login/oauth/authorize");
  assertEquals(parameters, {
    response_type: "code",
    client_id: CLIENT.id,
    redirect_uri: CALLBACK,
    scope: "read:user user:email",
    state: "the state",
    code_challenge: PARAMETERS.codeChallenge,
    code_challenge_method: "S256",
  });
  const provider = github(OPTIONS);
  assertEquals(github, presetCodeHost);
  assertEquals(
    [provider.id, provider.name, provider.type, provider.redirectUri],
    ["github", "GitHub", "oauth", undefined],
  );
});

Deno.test("GitHub's authorization URL works without a challenge and keeps its own query", () => {
  const provider = presetCodeHost({
    ...OPTIONS,
    authorizationUrl: "https://proxy.example/github?prompt=select_account",
  });
  const url = new URL(provider.getAuthorizationUrl!("s", CALLBACK));
  assertEquals(Object.fromEntries(url.searchParams), {
    prompt: "select_account",
    response_type: "code",
    client_id: CLIENT.id,
    redirect_uri: CALLBACK,
    scope: "read:user user:email",
    state: "s",
  });
});

Deno.test("enterprise finds GitHub Enterprise on your own server and on ghe.com", async () => {
  const cases = [
    [undefined, "https://github.com", "https://api.github.com"],
    ["https://github.com/", "https://github.com", "https://api.github.com"],
    [
      "https://git.example.com",
      "https://git.example.com",
      "https://git.example.com/api/v3",
    ],
    [
      "https://git.example.com:8443/",
      "https://git.example.com:8443",
      "https://git.example.com:8443/api/v3",
    ],
    [
      "https://octo.ghe.com",
      "https://octo.ghe.com",
      "https://api.octo.ghe.com",
    ],
    [
      "https://OCTO.ghe.com//",
      "https://octo.ghe.com",
      "https://api.octo.ghe.com",
    ],
    [
      "https://ghe.com.evil.example",
      "https://ghe.com.evil.example",
      "https://ghe.com.evil.example/api/v3",
    ],
  ] as const;
  await using local = startProvider();
  for (const [baseUrl, site, api] of cases) {
    const asked: string[] = [];
    const provider = presetCodeHost({
      ...OPTIONS,
      ...(baseUrl === undefined ? {} : { enterprise: { baseUrl } }),
      // The URLs are GitHub's; the responses come from the local server.
      fetch(input, init) {
        const url = new URL(String(input));
        asked.push(url.href);
        const path = url.pathname.replace(/^\/(?=user)/, "/api/v3/");
        return fetch(`${local.origin}/github${path}${url.search}`, init);
      },
    });
    const [address, parameters] = authorization(provider);
    assertEquals(address, `${site}/login/oauth/authorize`);
    const localUrl = `${local.origin}/github/login/oauth/authorize?`;
    const user = await signIn({
      ...provider,
      getAuthorizationUrl: (state, redirectUri, given) =>
        localUrl + new URLSearchParams({
          ...parameters,
          state,
          redirect_uri: redirectUri,
          code_challenge: given!.codeChallenge,
        }),
    }, "ada");
    assertEquals(user.id, "1815");
    assertEquals(asked, [
      `${site}/login/oauth/access_token`,
      `${api}/user`,
      `${api}/user/emails?per_page=100`,
    ]);
  }
});

Deno.test("GitHub's endpoints can be set one by one", async () => {
  await using local = startProvider();
  const base = `${local.origin}/github`;
  const provider = presetCodeHost({
    ...OPTIONS,
    id: "internal",
    name: "Our GitHub",
    authorizationUrl: `${base}/login/oauth/authorize`,
    tokenUrl: `${base}/login/oauth/access_token`,
    userInfoUrl: `${base}/api/v3/user`,
  });
  assertEquals((await signIn(provider, "grace")).email, "grace@navy.example");
  assertEquals([provider.id, provider.name], ["internal", "Our GitHub"]);
});

Deno.test("profile() creates the application's own user, or refuses the sign-in", async () => {
  await using local = startProvider();
  const provider = presetCodeHost({
    ...local.github,
    profile: async ({ id, login }, tokens) => {
      assertMatch(tokens.accessToken, /^[\w-]{36}$/);
      assertEquals(tokens.tokenType, "Bearer");
      assertEquals(tokens.scope, "read:user,user:email");
      return await Promise.resolve(
        login === "ada" ? { id: `github:${id}`, isAdmin: true } : null,
      );
    },
  });
  const user = await signIn(provider, "ada");
  // The type of `profile`'s result.
  const isAdmin: boolean = user.isAdmin;
  assertEquals([user.id, isAdmin], ["github:1815", true]);

  const error = await signIn(provider, "grace").catch((error) => error);
  assertEquals(error.code, "INVALID_CREDENTIALS");
  assertEquals(error.cause.message, "profile() returned null");
});

Deno.test("A profile() user without an id is the application's error", async () => {
  await using local = startProvider();
  for (const id of [undefined, null, "", 1815, ["1815"]]) {
    const provider = presetCodeHost({
      ...local.github,
      profile: () => ({ id: id as string }),
    });
    await assertRejects(
      () => signIn(provider, "ada"),
      TypeError,
      "Cannot sign in: profile() must return a user with a non-empty string as id, received ",
    );
  }
});

Deno.test("OAuth providers never accept a ready-made user", async () => {
  await using local = startProvider();
  const provider = presetCodeHost(local.github);
  const user = { id: "1", email: "ada@example.com", roles: ["admin"] };
  for (
    const credentials of [
      user,
      { user },
      { profile: user, tokens: { accessToken: "a" } },
      { code: "c", state: "s", user },
      {},
    ]
  ) {
    assertEquals(await provider.authorize(credentials), null);
  }
  const callback = {
    code: "ready-made",
    state: "s",
    redirectUri: CALLBACK,
    user,
  };
  const error = await provider.handleCallback!(callback)
    .then(() => undefined, (error) => error);
  assertEquals(
    error.message,
    "the token endpoint answered 200: bad_verification_code",
  );
});

Deno.test("A code is bound to the verifier of its sign-in", async () => {
  await using local = startProvider();
  const provider = presetCodeHost(local.github);
  const error = await signIn({
    ...provider,
    handleCallback: (callback) =>
      provider.handleCallback!({ ...callback, codeVerifier: "v".repeat(43) }),
  }, "ada").catch((error) => error);
  assertEquals(error.code, "OAUTH_FAILED");
  assertEquals(
    error.cause.message,
    "the token endpoint answered 200: bad_verification_code",
  );
});
