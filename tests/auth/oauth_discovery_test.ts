/**
 * Discovery documents: valid ones supply endpoints, invalid ones don't.
 *
 * @module
 */

import {
  assert,
  assertEquals,
  assertRejects,
  assertStringIncludes,
  assertThrows,
} from "@std/assert";
import type { Route } from "@quartet/kit/app";
import { getOAuthUrl, handleOAuthCallback, oauth } from "@quartet/kit/auth";
import type { OAuthOptions, OAuthTokens } from "@quartet/kit/auth";
import { createDiscovery } from "../../auth/oauth/discovery.ts";
import { captureErrors, freePort } from "../helpers.ts";
import { fakeTimers } from "../rpc/fake_timers.ts";
import { until } from "../rpc/helpers.ts";
import type { AuthServer } from "./harness.ts";
import { startAuth } from "./harness.ts";

const CALLBACK = "https://app.example/callback";
const CLIENT = {
  id: "any",
  name: "Any",
  clientId: "the-client",
  clientSecret: "the-secret",
};

/** An issuer on a local port. The test sets its answers. */
interface Issuer extends AsyncDisposable {
  readonly issuer: string;
  /** The requested paths, except the endpoints. */
  readonly asked: string[];
  /** The requests to the token endpoint. */
  readonly tokens: Request[];
  /** Answers by path. `undefined` is 404. */
  answers: Record<string, () => Response | Promise<Response>>;
  document(given?: Record<string, unknown>): Record<string, unknown>;
}

function startIssuer(path = ""): Issuer {
  const asked: string[] = [];
  const tokens: Request[] = [];
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async (request) => {
      const { pathname } = new URL(request.url);
      if (pathname === "/token") {
        tokens.push(request.clone());
        await request.text();
        return Response.json({ access_token: "at" });
      }
      if (pathname === "/me") return Response.json({ sub: "ada" });
      asked.push(pathname);
      const answer = issuer.answers[pathname];
      return await answer?.() ?? Response.json({}, { status: 404 });
    },
  );
  const origin = `http://127.0.0.1:${server.addr.port}`;
  const issuer: Issuer = {
    issuer: origin + path,
    asked,
    tokens,
    answers: {},
    document: (given = {}) => ({
      issuer: origin + path,
      authorization_endpoint: `${origin}/authorize?tenant=1`,
      token_endpoint: `${origin}/token`,
      userinfo_endpoint: `${origin}/me`,
      jwks_uri: `${origin}/jwks`,
      ...given,
    }),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
  return issuer;
}

const OPENID = "/.well-known/openid-configuration";
const OAUTH = "/.well-known/oauth-authorization-server";
const TIMED_OUT = "took more than 10000 ms";
/** Plain OAuth without id tokens. */
const PLAIN = { scope: ["email"] };

const ROUTES: readonly Route[] = [
  {
    path: "/start",
    loader: ({ context }) =>
      Response.redirect(getOAuthUrl(context, "any", CALLBACK), 303),
  },
  {
    path: "/callback",
    async loader({ context }) {
      const { searchParams } = context.url;
      const { userId } = await handleOAuthCallback(context, "any", {
        code: searchParams.get("code"),
        state: searchParams.get("state"),
        iss: searchParams.get("iss"),
        redirectUri: CALLBACK,
      });
      return { userId };
    },
  },
];

/** Stops `performance.now()` until the end of the block. */
function stopClock() {
  const { now } = performance;
  performance.now = () => clock.time;
  const clock = {
    time: 0,
    [Symbol.dispose]: () => void (performance.now = now),
  };
  return clock;
}

function start(options: OAuthOptions): Promise<AuthServer> {
  return startAuth({ providers: [oauth(options)] }, ROUTES);
}

/** Signs in. Returns the user's id, or the status and code of the error. */
async function signIn(
  app: AuthServer,
  answer: Record<string, string> = {},
): Promise<string> {
  const browser = app.browser();
  const away = await browser.ask("/start");
  if (away.status !== 303) {
    return `${away.status} ${(await away.json()).error.code}`;
  }
  await away.body?.cancel();
  const state = new URL(away.headers.get("location")!).searchParams
    .get("state")!;
  const query = new URLSearchParams({ code: "c", state, ...answer });
  const back = await browser.ask(`/callback?${query}`);
  const { userId, error } = await back.json();
  return userId ?? `${back.status} ${error.code}`;
}

Deno.test("oauth() with an issuer fetches its document once, before the first request", async () => {
  await using local = startIssuer();
  local.answers[OAUTH] = () => Response.json(local.document());
  const provider = oauth({ ...CLIENT, ...PLAIN, issuer: local.issuer });
  assertEquals(local.asked, [], "not at creation");
  await using app = await startAuth({ providers: [provider] }, ROUTES);
  assertEquals(local.asked, [OAUTH]);
  const browser = app.browser();
  const away = await browser.ask("/start");
  await away.body?.cancel();
  const url = new URL(away.headers.get("location")!);
  assertEquals(url.pathname, "/authorize");
  assertEquals(url.searchParams.get("tenant"), "1");
  assertEquals(url.searchParams.get("client_id"), "the-client");
  for (let i = 0; i < 3; i++) assertEquals(await signIn(app), "ada");
  assertEquals(local.asked, [OAUTH]);
});

Deno.test("The document is fetched from the URLs of OpenID Connect Discovery and RFC 8414", async () => {
  for (
    const [path, scope, paths] of [
      ["", ["openid"], [OPENID]],
      ["/", ["openid"], [OPENID]],
      ["/realms/x", ["openid"], [`/realms/x${OPENID}`]],
      ["/realms/x", undefined, [`/realms/x${OPENID}`]],
      ["", [], [OAUTH]],
      ["/", [], [OAUTH]],
      ["/realms/x", ["email"], [`${OAUTH}/realms/x`]],
      ["/realms/x/", ["email"], [`${OAUTH}/realms/x`]],
      // The document exists only at the fallback path.
      ["/y", ["email"], [`${OAUTH}/y`, `/y${OPENID}`]],
    ] as const
  ) {
    await using local = startIssuer(path);
    local.answers[paths.at(-1)!] = () => Response.json(local.document());
    await using app = await start({
      ...CLIENT,
      ...(scope === undefined ? {} : { scope }),
      issuer: local.issuer,
    });
    const away = await app.browser().ask("/start");
    await away.body?.cancel();
    assertEquals([away.status, local.asked], [303, [...paths]], path);
  }
});

Deno.test("An invalid or untrusted discovery document supplies nothing", async () => {
  await using local = startIssuer();
  const { issuer } = local;
  const json = (given: Record<string, unknown>) => () =>
    Response.json(local.document(given));
  const unanswered = Promise.withResolvers<Response>();
  const answers: [string, () => Response | Promise<Response>, string][] = [
    [
      "a foreign issuer",
      json({ issuer: "https://evil.example" }),
      'can\'t be used: it names the issuer "https://evil.example"; set issuer to exactly that',
    ],
    [
      "almost the issuer",
      json({ issuer: `${issuer}/` }),
      `can't be used: it names the issuer "${issuer}/"; set issuer to exactly that`,
    ],
    ["no issuer", json({ issuer: undefined }), "received undefined"],
    ["a list of issuers", json({ issuer: [issuer] }), "received an array"],
    [
      "an endpoint without TLS",
      json({ token_endpoint: "http://provider.example/token" }),
      "token_endpoint must be an https URL",
    ],
    [
      "an endpoint on another scheme",
      json({ authorization_endpoint: "javascript:alert(1)" }),
      "authorization_endpoint must be an https URL",
    ],
    [
      "an endpoint that is a file",
      json({ jwks_uri: "file:///etc/passwd" }),
      "jwks_uri must be an https URL",
    ],
    [
      "an endpoint with credentials",
      json({ userinfo_endpoint: "https://a:b@provider.example/" }),
      "userinfo_endpoint must be an https URL",
    ],
    [
      "a relative endpoint",
      json({ token_endpoint: "/token" }),
      "token_endpoint",
    ],
    [
      "an endpoint of another type",
      json({ token_endpoint: {} }),
      "token_endpoint",
    ],
    [
      "no endpoint",
      json({ token_endpoint: undefined }),
      "token_endpoint must be given",
    ],
    [
      "no authorization endpoint",
      json({ authorization_endpoint: null }),
      "authorization_endpoint must be given",
    ],
    [
      "a redirect",
      () => Response.redirect(`${issuer}/elsewhere`, 302),
      "with a redirect that isn't followed",
    ],
    [
      "a page",
      () =>
        new Response("<html>", { headers: { "content-type": "text/html" } }),
      "answered 200 without JSON",
    ],
    [
      "half a document",
      () =>
        new Response("{", { headers: { "content-type": "application/json" } }),
      "answered 200 with bad JSON",
    ],
    ["no object", () => Response.json([1]), "did not answer with an object"],
    ["an error", () => Response.json({}, { status: 500 }), "answered 500"],
    [
      "2 MiB",
      () => Response.json(local.document({ x: "x".repeat(2 ** 21) })),
      "must be at most 1048576 bytes",
    ],
    ["no answer", () => unanswered.promise, TIMED_OUT],
    [
      "no end",
      () =>
        new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(new Uint8Array([0x7b])),
          }),
          { headers: { "content-type": "application/json" } },
        ),
      TIMED_OUT,
    ],
  ];
  using timers = fakeTimers();
  using _ = stopClock();
  for (const [what, answer, reason] of answers) {
    using captured = captureErrors();
    local.answers = { [OAUTH]: answer };
    local.asked.length = 0;
    const starting = start({ ...CLIENT, ...PLAIN, issuer });
    if (reason === TIMED_OUT) {
      await until(() => local.asked.length === 1);
      timers.advance(10_000);
    }
    await using app = await starting;
    assertEquals(await signIn(app), "502 OAUTH_FAILED", what);
    assertEquals(local.asked, [OAUTH], what);
    assert(captured.lines[0]?.includes(reason), captured.lines[0]);
    assert(
      captured.lines[0]!.startsWith("Discovery of provider %s failed: any "),
    );
    assertEquals((await app.browser().json("/me")).session, null);
  }
  unanswered.resolve(Response.json({}));
  assertEquals(local.tokens, []);
});

Deno.test("A remote issuer can't make the app send secrets to localhost", async () => {
  using captured = captureErrors();
  const issuer = "https://issuer.example";
  const document = {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
  };
  for (
    const url of [
      "http://127.0.0.1:1/x",
      "https://localhost/x",
      "http://[::1]/",
    ]
  ) {
    for (
      const name of ["authorization_endpoint", "token_endpoint", "jwks_uri"]
    ) {
      await using app = await start({
        ...CLIENT,
        ...PLAIN,
        issuer,
        fetch: () =>
          Promise.resolve(Response.json({ ...document, [name]: url })),
      });
      assertEquals(await signIn(app), "502 OAUTH_FAILED");
      assert(captured.lines.at(-1)!.includes(name));
    }
  }
});

Deno.test("An app starts without its issuer, reports it, and signs in once it is available", async () => {
  using captured = captureErrors();
  await using local = startIssuer();
  const { answers } = local;
  using clock = stopClock();
  await using app = await start({ ...CLIENT, ...PLAIN, issuer: local.issuer });
  assertEquals(captured.lines.length, 1);
  const early = await app.browser().ask("/start");
  assertEquals(early.status, 502);
  assertEquals(early.headers.get("retry-after"), "1");
  const { error } = await early.json();
  assertEquals(error, {
    code: "OAUTH_FAILED",
    message:
      "The sign-in provider can't be reached at this time; please try again",
  });
  // No further request follows immediately, however many sign-ins begin.
  for (let i = 0; i < 20; i++) {
    assertEquals(await signIn(app), "502 OAUTH_FAILED");
  }
  assertEquals(local.asked.length, 2, "both places, once");
  answers[OAUTH] = () => Response.json(local.document());
  clock.time = 1_000;
  assertEquals(
    await signIn(app),
    "502 OAUTH_FAILED",
    "this sign-in triggers a request",
  );
  // Until the document has arrived.
  for (let i = 0; i < 1_000 && await signIn(app) !== "ada"; i++);
  assertEquals(await signIn(app), "ada");
  assertEquals(local.asked.length, 3);
});

Deno.test("The document is fetched again after an hour, and stays in use if that fails", async () => {
  using captured = captureErrors();
  const issuer = "https://issuer.example";
  let time = 0;
  let asked = 0;
  let isDown = false;
  let waiting = Promise.withResolvers<void>();
  const source = createDiscovery({
    id: "any",
    issuer,
    isOpenID: true,
    given: {},
    now: () => time,
    transport: {
      timeout: 1,
      async fetch() {
        const version = ++asked;
        await waiting.promise;
        if (isDown) throw new TypeError("down");
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize/${version}`,
          token_endpoint: `${issuer}/token`,
        });
      },
    },
  });
  const settle = async () => {
    waiting.resolve();
    await new Promise((resolve) => setTimeout(resolve));
    waiting = Promise.withResolvers();
  };
  const url = () => source.current?.authorizationUrl.at(-1);
  assertEquals([source.current, asked], [undefined, 0]);
  // Concurrent sign-ins share one request.
  const loads = Array.from({ length: 10 }, () => source.load());
  source.renew();
  await settle();
  assertEquals(new Set(await Promise.all(loads)).size, 1);
  assertEquals([url(), asked], ["1", 1]);
  time += 3_599_999;
  await source.load();
  assertEquals(asked, 1);
  time += 1;
  assertEquals((await source.load()).authorizationUrl.at(-1), "1", "at once");
  assertEquals(asked, 2);
  await settle();
  assertEquals(url(), "2");

  isDown = true;
  time += 3_600_000;
  source.renew();
  await settle();
  assertEquals([url(), asked], ["2", 3]);
  assertEquals(captured.lines.length, 1);
  source.renew();
  assertEquals(asked, 3, "at most once per second");
  isDown = false;
  time += 1_000;
  source.renew();
  await settle();
  assertEquals([url(), asked], ["4", 4]);
});

Deno.test("The log names the address of a missing document, and the cause", async () => {
  using captured = captureErrors();
  const discover = async (issuer: string) => {
    const source = createDiscovery({
      id: "any",
      issuer,
      isOpenID: true,
      given: {},
      transport: { timeout: 1_000, fetch },
    });
    await assertRejects(() => source.load());
    return String(captured.calls.at(-1)!.at(-1));
  };
  const down = `http://127.0.0.1:${freePort()}`;
  const unreachable = await discover(down);
  assertStringIncludes(
    unreachable,
    `the discovery document at ${down}/.well-known/openid-configuration can't be reached: `,
  );
  assertStringIncludes(unreachable, "Connection refused");
  await using local = startIssuer();
  const wrong = `${local.issuer}/.well-known/openid-configuration`;
  assertEquals(
    await discover(wrong),
    `the discovery document at ${wrong}/.well-known/openid-configuration answered 404; issuer is the address without /.well-known/…`,
  );
});

Deno.test("A failed request for the document fails all waiting sign-ins", async () => {
  using _captured = captureErrors();
  const source = createDiscovery({
    id: "any",
    issuer: "https://issuer.example",
    isOpenID: true,
    given: {},
    transport: { timeout: 1_000, fetch: () => Promise.reject(new Error("no")) },
  });
  await assertRejects(() => source.load(), Error, "can't be reached");
});

Deno.test("The client secret is sent as the document says, unless the application overrides it", async () => {
  const name = "token_endpoint_auth_methods_supported";
  for (
    const [methods, given, isBasic] of [
      [undefined, undefined, true],
      [["client_secret_basic"], undefined, true],
      [["client_secret_post", "client_secret_basic"], undefined, false],
      [["client_secret_post"], undefined, false],
      [["private_key_jwt"], undefined, false],
      [["client_secret_basic"], "body", false],
      [["client_secret_post"], "basic", true],
    ] as const
  ) {
    await using local = startIssuer();
    local.answers[OAUTH] = () =>
      Response.json(local.document({ [name]: methods }));
    await using app = await start({
      ...CLIENT,
      ...PLAIN,
      issuer: local.issuer,
      ...(given === undefined ? {} : { clientAuthentication: given }),
    });
    assertEquals(await signIn(app), "ada");
    const [request] = local.tokens;
    assertEquals(request!.headers.has("authorization"), isBasic);
    assertEquals((await request!.text()).includes("the-secret"), !isBasic);
  }
});

Deno.test("A callback without iss is refused if the document says it is always sent", async () => {
  const name = "authorization_response_iss_parameter_supported";
  for (const value of [true, false, undefined, "true"]) {
    await using local = startIssuer();
    local.answers[OAUTH] = () =>
      Response.json(local.document({ [name]: value }));
    await using app = await start({
      ...CLIENT,
      ...PLAIN,
      issuer: local.issuer,
    });
    const mismatch = "400 OAUTH_STATE_MISMATCH";
    assertEquals(await signIn(app), value === true ? mismatch : "ada");
    assertEquals(await signIn(app, { iss: local.issuer }), "ada");
    assertEquals(await signIn(app, { iss: "https://evil.example" }), mismatch);
    assertEquals(await signIn(app, { iss: `${local.issuer}/` }), mismatch);
  }
});

Deno.test("With openid, a sign-in without a verified id token fails, whatever the document says", async () => {
  using captured = captureErrors();
  for (
    const [given, reason] of [
      [{}, "returned no id_token"],
      [{ jwks_uri: undefined }, "has no jwks_uri"],
      [
        { id_token_signing_alg_values_supported: ["HS256", "none"] },
        "no algorithm with public keys",
      ],
    ] as const
  ) {
    await using local = startIssuer();
    local.answers[OPENID] = () => Response.json(local.document(given));
    await using app = await start({ ...CLIENT, issuer: local.issuer });
    assertEquals(await signIn(app), "502 OAUTH_FAILED");
    assert(captured.lines.at(-1)!.includes(reason));
  }
});

Deno.test("The application's settings override the document", async () => {
  await using local = startIssuer();
  await using own = startIssuer();
  local.answers[OAUTH] = () => Response.json(local.document());
  await using app = await start({
    ...CLIENT,
    ...PLAIN,
    issuer: local.issuer,
    tokenUrl: `${own.issuer}/token`,
  });
  assertEquals(await signIn(app), "ada");
  assertEquals([local.tokens.length, own.tokens.length], [0, 1]);
});

Deno.test("With all endpoints given, the issuer is compared but not contacted", async () => {
  await using local = startIssuer();
  await using app = await start({
    ...CLIENT,
    ...PLAIN,
    issuer: "https://issuer.example",
    authorizationUrl: `${local.issuer}/authorize`,
    tokenUrl: `${local.issuer}/token`,
    userInfoUrl: `${local.issuer}/me`,
  });
  assertEquals(await signIn(app, { iss: "https://issuer.example" }), "ada");
  assertEquals(
    await signIn(app, { iss: local.issuer }),
    "400 OAUTH_STATE_MISMATCH",
  );
  assertEquals(local.asked, []);
});

Deno.test("profile() supplies the user from the tokens without userInfoUrl", async () => {
  await using local = startIssuer();
  const calls: [Record<string, unknown>, OAuthTokens][] = [];
  const options = {
    ...CLIENT,
    authorizationUrl: `${local.issuer}/authorize`,
    tokenUrl: `${local.issuer}/token`,
  };
  const provider = oauth({
    ...options,
    profile(profile, tokens) {
      calls.push([profile, tokens]);
      return { id: "from the tokens" };
    },
  });
  await using app = await startAuth({ providers: [provider] }, ROUTES);
  assertEquals(await signIn(app), "from the tokens");
  assertEquals(calls.length, 1);
  assertEquals(calls[0]![0], {});
  assertEquals(calls[0]![1].accessToken, "at");

  // The same applies to a document without `userinfo_endpoint`.
  local.answers[OAUTH] = () =>
    Response.json(local.document({ userinfo_endpoint: undefined }));
  const discovered = oauth({
    ...CLIENT,
    ...PLAIN,
    issuer: local.issuer,
    profile: (_, { accessToken }) => ({ id: accessToken }),
  });
  await using other = await startAuth({ providers: [discovered] }, ROUTES);
  assertEquals(await signIn(other), "at");
});

Deno.test("oauth() names missing endpoints and rejects an invalid issuer", () => {
  const url = "https://issuer.example/x";
  const cases: [Record<string, unknown>, string][] = [
    [
      {},
      "authorizationUrl must be an https URL (or http on this machine) without credentials and fragment, unless issuer is given, received undefined",
    ],
    [{ authorizationUrl: url }, "tokenUrl must be an https URL"],
    [{ authorizationUrl: url, tokenUrl: url }, "userInfoUrl, profileUrl or"],
    [{ issuer: "issuer.example" }, "issuer must be an https URL"],
    [{ issuer: "http://issuer.example" }, "issuer must be an https URL"],
    [{ issuer: "https://issuer.example?a" }, "issuer must be an https URL"],
    [{ issuer: "https://issuer.example#a" }, "issuer must be an https URL"],
    [{ issuer: 5 }, "issuer must be an https URL"],
    [{ issuer: "" }, "issuer must be an https URL"],
    [
      {
        issuer: "",
        authorizationUrl: url,
        tokenUrl: url,
        userInfoUrl: url,
        scope: [],
      },
      "issuer must be an https URL",
    ],
    [{ issuer: url, tokenUrl: "http://issuer.example" }, "tokenUrl must be"],
    [
      { issuer: url, idToken: { issuer: "https://b.example", jwksUrl: url } },
      'idToken.issuer must be the same as issuer, received "https://b.example"',
    ],
  ];
  for (const [given, message] of cases) {
    assertThrows(
      () => oauth({ ...CLIENT, ...given } as OAuthOptions),
      TypeError,
      `Cannot create OAuth provider: ${message}`,
    );
  }
});
