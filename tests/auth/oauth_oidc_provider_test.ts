/**
 * Sign-in through `oidc-provider`, a certified implementation of OpenID
 * Connect.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import {
  createAuthPlugin,
  getOAuthUrl,
  getUser,
  handleOAuthCallback,
  oauth,
} from "@quartet/kit/auth";
import type { OAuthOptions } from "@quartet/kit/auth";
import { exportJWK, generateKeyPair } from "jose";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import Provider from "oidc-provider";
import { parseCookie, startServer } from "./browser.ts";

const CLIENT_SECRET = "a secret & of=the client%: +~";
const CALLBACK = "/auth/callback";

/** A listening provider. It's closed at the end of its block. */
interface OIDCProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Registers the application as two clients with different settings. */
  register(redirectUri: string): Promise<void>;
}

/** Starts the provider on a free port. */
async function startOIDCProvider(): Promise<OIDCProvider> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return {
    issuer,
    async register(redirectUri) {
      const client = (method: string) => ({
        client_id: method,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: method,
      });
      const provider = new Provider(issuer, {
        clients: [client("client_secret_basic"), client("client_secret_post")],
        jwks: { keys: [{ ...await exportJWK(privateKey), alg: "RS256" }] },
        cookies: { keys: ["the provider's own secret"] },
        claims: { email: ["email", "email_verified"], profile: ["name"] },
        pkce: { required: () => true },
        ttl: {
          AccessToken: 600,
          Grant: 600,
          IdToken: 600,
          Interaction: 600,
          Session: 600,
        },
        findAccount: (_: unknown, id: string) => ({
          accountId: id,
          claims: () => ({
            sub: id,
            name: "Ada Lovelace",
            email: "ada@example.com",
            email_verified: true,
          }),
        }),
      });
      server.on("request", provider.callback());
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}

/**
 * Signs in on the provider's pages and consents. Returns the final redirect
 * URL.
 */
async function visit(url: string, issuer: string): Promise<string> {
  const cookies = new Map<string, string>();
  let body: URLSearchParams | undefined;
  for (let i = 0; i < 12; i++) {
    const response = await fetch(url, {
      redirect: "manual",
      headers: {
        cookie: Array.from(cookies, (pair) => pair.join("=")).join("; "),
      },
      ...(body === undefined ? {} : { method: "POST", body }),
    });
    for (const line of response.headers.getSetCookie()) {
      const [name, { value }] = parseCookie(line);
      cookies.set(name, value);
    }
    const html = await response.text();
    const location = response.headers.get("location");
    if (location !== null) {
      url = new URL(location, url).href;
      body = undefined;
      if (!url.startsWith(issuer)) return url;
      continue;
    }
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(html) ?? [];
    const [, prompt] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
    assert(action !== undefined && prompt !== undefined, html);
    url = new URL(action, url).href;
    body = new URLSearchParams({ prompt, login: "ada", password: "engine" });
  }
  throw new Error("The provider asks without end");
}

/** The provider's endpoints, for an app without its discovery document. */
const endpointsOf = (issuer: string) => ({
  authorizationUrl: `${issuer}/auth`,
  tokenUrl: `${issuer}/token`,
  userInfoUrl: `${issuer}/me`,
  idToken: { issuer, jwksUrl: `${issuer}/jwks` },
  clientAuthentication: "basic" as const,
});

/** Starts an app that signs in with the provider. */
function startApp(
  issuer: string,
  given: Partial<OAuthOptions> = {},
  origin?: string,
) {
  const plugin = createAuthPlugin({
    session: { secret: "a secret of at least thirty-two bytes" },
    providers: [oauth({
      id: "oidc",
      name: "OIDC",
      clientId: "client_secret_basic",
      clientSecret: CLIENT_SECRET,
      scope: ["openid", "email", "profile"],
      ...(given.issuer === undefined ? endpointsOf(issuer) : {}),
      ...given,
    })],
  });
  const redirectUri = (request: Request) =>
    new URL(CALLBACK, origin ?? request.url).href;
  return startServer(plugin, [
    {
      path: "/auth/start",
      loader: ({ request, context }) =>
        Response.redirect(
          getOAuthUrl(context, "oidc", redirectUri(request)),
          303,
        ),
    },
    {
      path: CALLBACK,
      async loader({ request, context }) {
        const { searchParams } = new URL(request.url);
        const { userId } = await handleOAuthCallback(context, "oidc", {
          code: searchParams.get("code") ?? "",
          state: searchParams.get("state") ?? "",
          iss: searchParams.get("iss"),
          error: searchParams.get("error"),
          redirectUri: redirectUri(request),
        });
        return { userId };
      },
    },
    { path: "/me", loader: ({ context }) => getUser(context) },
  ]);
}

for (
  const [clientId, clientAuthentication] of [
    ["client_secret_basic", "basic"],
    ["client_secret_post", "body"],
  ] as const
) {
  Deno.test(`Sign-in works with oidc-provider and ${clientId}`, async () => {
    await using provider = await startOIDCProvider();
    const { issuer } = provider;
    await using app = await startApp(issuer, {
      clientId,
      clientAuthentication,
    });
    await provider.register(`${app.origin}${CALLBACK}`);
    const browser = app.browser();
    const start = await browser.ask("/auth/start");
    await start.body?.cancel();
    const back = await visit(start.headers.get("location")!, issuer);
    assertEquals(back.slice(0, app.origin.length), app.origin);
    const path = back.slice(app.origin.length);

    // Another browser with the same callback URL is refused.
    const otherVisitor = await app.browser().ask(path);
    assertEquals(otherVisitor.status, 400);
    await otherVisitor.body?.cancel();

    assertEquals(await browser.json(path), { userId: "ada" });
    assertEquals(await browser.json("/me"), {
      id: "ada",
      name: "Ada Lovelace",
      email: "ada@example.com",
    });
    const again = await browser.ask(path);
    assertEquals(again.status, 400);
    await again.body?.cancel();
    assertEquals([...browser.cookies.keys()], ["app.session"]);
  });
}

Deno.test("oidc-provider and the app agree on state, verifier and nonce", async () => {
  await using provider = await startOIDCProvider();
  const { issuer } = provider;
  await using app = await startApp(issuer);
  await provider.register(`${app.origin}${CALLBACK}`);
  const changes: Readonly<Record<string, string>> = {
    nonce: "n".repeat(43),
    code_challenge: "c".repeat(43),
    state: "s".repeat(43),
  };
  for (const [name, value] of Object.entries(changes)) {
    const browser = app.browser();
    const start = await browser.ask("/auth/start");
    await start.body?.cancel();
    const url = new URL(start.headers.get("location")!);
    url.searchParams.set(name, value);
    const back = await visit(url.href, issuer);
    const answer = await browser.ask(back.slice(app.origin.length));
    const { error } = await answer.json();
    assertEquals(
      [answer.status, error.code],
      name === "state" ? [400, "OAUTH_STATE_MISMATCH"] : [502, "OAUTH_FAILED"],
      name,
    );
    assertEquals(await browser.json("/me"), null);
  }
});

/** The origin of the redirect URI. The test sends its path to the app. */
const ORIGIN = "https://app.example";

for (const clientId of ["client_secret_basic", "client_secret_post"]) {
  Deno.test(`Sign-in with only the issuer works with oidc-provider and ${clientId}`, async () => {
    await using provider = await startOIDCProvider();
    const { issuer } = provider;
    await provider.register(`${ORIGIN}${CALLBACK}`);
    const given: Partial<OAuthOptions> = {
      issuer,
      clientId,
      ...(clientId === "client_secret_basic"
        ? { clientAuthentication: "basic" }
        : {}),
    };
    await using app = await startApp(issuer, given, ORIGIN);
    const browser = app.browser();
    const start = await browser.ask("/auth/start");
    await start.body?.cancel();
    const back = await visit(start.headers.get("location")!, issuer);
    assertEquals(await browser.json(back.slice(ORIGIN.length)), {
      userId: "ada",
    });
    assertEquals(await browser.json("/me"), {
      id: "ada",
      name: "Ada Lovelace",
      email: "ada@example.com",
    });
    assertEquals(app.errors, []);
  });
}

Deno.test("With only the issuer, the app checks iss, nonce and id token of oidc-provider", async () => {
  await using provider = await startOIDCProvider();
  const { issuer } = provider;
  await provider.register(`${ORIGIN}${CALLBACK}`);
  await using app = await startApp(issuer, {
    issuer,
    clientAuthentication: "basic",
  }, ORIGIN);
  const outcome = async (change: (start: URL, back?: URL) => void) => {
    const browser = app.browser();
    const start = await browser.ask("/auth/start");
    await start.body?.cancel();
    const url = new URL(start.headers.get("location")!);
    change(url);
    const back = new URL(await visit(url.href, issuer));
    change(url, back);
    const answer = await browser.ask(back.pathname + back.search);
    const { error, userId } = await answer.json();
    return userId ?? `${answer.status} ${error.code}`;
  };
  assertEquals(await outcome(() => {}), "ada");
  assertEquals(
    await outcome((_, back) => back?.searchParams.delete("iss")),
    "400 OAUTH_STATE_MISMATCH",
  );
  assertEquals(
    await outcome((_, back) =>
      back?.searchParams.set("iss", "https://evil.example")
    ),
    "400 OAUTH_STATE_MISMATCH",
  );
  assertEquals(
    await outcome((start) => start.searchParams.set("nonce", "another")),
    "502 OAUTH_FAILED",
  );
  // The provider answers with an error, because a nonce needs the scope
  // `openid`.
  assertEquals(
    await outcome((start) => start.searchParams.set("scope", "email")),
    "502 OAUTH_FAILED",
  );
});
