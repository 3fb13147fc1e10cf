/**
 * Helpers for tests of OAuth: a running provider, a user who clicks on its
 * page, a browser's cookies, and a manual clock.
 *
 * @module
 */

import type { AuthProvider, BaseUser } from "@quartet/kit/auth";
import { assertEquals } from "@std/assert";
import { resolveCookie } from "../../auth/cookies/cookie_settings.ts";
import type { CookieOptions } from "../../auth/cookies/cookie_settings.ts";
import { createOAuthFlow } from "../../auth/oauth/flow.ts";
import { createKeyRing } from "../../auth/tokens/key_ring.ts";
import type { Client, OAuthServer } from "../../examples/hillside/mod.ts";
import { createOAuthServer } from "../../examples/hillside/mod.ts";

/** The secret of the OAuth flows. */
export const SECRET = "a secret of at least thirty-two bytes";
/** The application's callback URL. Nothing listens there. */
export const CALLBACK = "http://127.0.0.1:9/auth/callback";

/** The application's registration at the provider. */
export const CLIENT: Client = {
  id: "the-client",
  secret: "the secret & of the client=%",
  redirectUris: [
    CALLBACK,
    ...["github", "google", "discord"].map((id) =>
      `http://127.0.0.1/auth/${id}/callback`
    ),
  ],
};

/** The options that all factories need. */
const CREDENTIALS = { clientId: CLIENT.id, clientSecret: CLIENT.secret };

/** A listening provider. It's closed at the end of its block. */
export interface LocalProvider extends AsyncDisposable {
  readonly origin: string;
  readonly server: OAuthServer;
  readonly github: typeof CREDENTIALS & { enterprise: { baseUrl: string } };
  readonly google: typeof CREDENTIALS & Record<GoogleUrl, string>;
  readonly discord: typeof CREDENTIALS & Record<Url, string>;
}

type Url = "authorizationUrl" | "tokenUrl" | "userInfoUrl";
type GoogleUrl = Url | "jwksUrl";

/** Starts a provider on a free port. */
export function startProvider(): LocalProvider {
  const server = createOAuthServer({ client: CLIENT });
  const listener = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    server.fetch,
  );
  const origin = `http://127.0.0.1:${listener.addr.port}`;
  return {
    origin,
    server,
    github: { ...CREDENTIALS, enterprise: { baseUrl: `${origin}/github` } },
    google: {
      ...CREDENTIALS,
      authorizationUrl: `${origin}/google/o/oauth2/v2/auth`,
      tokenUrl: `${origin}/google/token`,
      userInfoUrl: `${origin}/google/v1/userinfo`,
      jwksUrl: `${origin}/google/oauth2/v3/certs`,
    },
    discord: {
      ...CREDENTIALS,
      authorizationUrl: `${origin}/discord/oauth2/authorize`,
      tokenUrl: `${origin}/discord/api/oauth2/token`,
      userInfoUrl: `${origin}/discord/api/users/@me`,
    },
    [Symbol.asyncDispose]() {
      server.close();
      return listener.shutdown();
    },
  };
}

/** The parameters that a provider sends to the callback. */
export interface Answer {
  readonly code: string;
  readonly state: string;
  readonly redirectUri: string;
}

/** Opens the provider's page and clicks on a user's name. */
export async function click(url: string, login: string): Promise<Answer> {
  const page = await fetch(url);
  const html = await page.text();
  assertEquals(page.status, 200, html);
  const form = new URLSearchParams();
  for (const [, name, value] of html.matchAll(HIDDEN)) {
    form.append(name!, unescape(value!));
  }
  form.append("login", login);
  const response = await fetch(url, {
    method: "POST",
    body: form,
    redirect: "manual",
  });
  await response.body?.cancel();
  const back = new URL(response.headers.get("location")!);
  const { searchParams } = back;
  return {
    code: searchParams.get("code") ?? "",
    state: searchParams.get("state") ?? "",
    redirectUri: back.origin + back.pathname,
  };
}

const HIDDEN = /type="hidden" name="([^"]*)" value="([^"]*)"/g;

function unescape(text: string): string {
  return text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(code));
}

export class Jar {
  readonly cookies = new Map<string, string>();

  /** Stores `Set-Cookie` values as a browser does. */
  take(values: readonly string[]): void {
    for (const value of values) {
      const [, name = "", content = ""] = /^([^=]+)=([^;]*)/.exec(value)!;
      if (/; Max-Age=0(;|$)/.test(value)) this.cookies.delete(name);
      else this.cookies.set(name, content);
    }
  }

  get header(): string | null {
    return this.cookies.size === 0
      ? null
      : Array.from(this.cookies, (pair) => pair.join("=")).join("; ");
  }
}

/** A flow with a manual clock. */
export interface TimedFlow extends ReturnType<typeof createOAuthFlow> {
  /** Advances the clock by this many milliseconds. */
  pass(ms: number): void;
}

/** Creates a flow with a manual clock. */
export function timedFlow(
  cookie?: CookieOptions,
  secret: string | string[] = SECRET,
): TimedFlow {
  let time = 1_700_000_000_000;
  const keys = createKeyRing(secret);
  const flow = createOAuthFlow(keys, resolveCookie(cookie), () => time);
  return Object.assign(flow, {
    pass(ms: number) {
      time += ms;
    },
  });
}

/** Signs a user in, through all steps, in a separate browser. */
export async function signIn<U extends BaseUser>(
  provider: AuthProvider<U>,
  login: string,
): Promise<U> {
  const flow = timedFlow();
  const jar = new Jar();
  const { url, cookies } = flow.begin(provider, CALLBACK, jar.header);
  jar.take(cookies);
  const end = flow.finish(provider, await click(url, login), jar.header);
  jar.take(end.cookies);
  assertEquals(jar.header, null);
  return await end.user;
}

/** A callback's parameters, for providers that ignore them. */
export const ANSWER: Answer = {
  code: "c",
  state: "s",
  redirectUri: CALLBACK,
};

/**
 * Creates a `fetch` that answers with JSON by a URL's path, by default with an
 * empty object.
 *
 * @param requests Collects the requests.
 */
export function scriptedFetch(
  answers: Readonly<Record<string, unknown>>,
  requests: Request[] = [],
): typeof fetch {
  return (input, init) => {
    const request = new Request(input, init);
    requests.push(request);
    const path = new URL(request.url).pathname;
    return Promise.resolve(Response.json(answers[path] ?? {}));
  };
}
