import { authorize } from "./authorize.ts";
import { createDiscord } from "./discord.ts";
import type { Fault } from "./faults.ts";
import { answerWith } from "./faults.ts";
import type { GitHub } from "./github.ts";
import { createGitHub } from "./github.ts";
import type { Google } from "./google.ts";
import { createGoogle } from "./google.ts";
import type { Client } from "./grants.ts";
import { createGrants } from "./grants.ts";
import type { Person } from "./people.ts";
import { PEOPLE } from "./people.ts";
import type { Realm } from "./realm.ts";

export interface OAuthServerOptions {
  /** The registered application. */
  readonly client: Client;
  /** The name on its page. Default: the name of the provider. */
  readonly title?: string;
  /** The people who can sign in. Default: `PEOPLE`. */
  readonly people?: readonly Person[];
  /** Returns the time in milliseconds since the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** A received request, without its secrets. */
export interface SeenRequest {
  readonly method: string;
  /** The path, with the provider's prefix. */
  readonly path: string;
  readonly headers: Headers;
  /** The fields of a request to a token endpoint. */
  readonly form: URLSearchParams | undefined;
}

/**
 * A local OAuth server. It simulates GitHub below `/github`, Google below
 * `/google` and Discord below `/discord`, as they are documented. People sign in
 * with a click.
 */
export interface OAuthServer {
  fetch(request: Request): Promise<Response>;
  /** GitHub, with its switch. */
  readonly github: GitHub;
  /** Google, with its switches. */
  readonly google: Google;
  /** Faults by path. */
  readonly faults: Map<string, Fault>;
  /** All requests so far, except those for the consent page. */
  readonly seen: readonly SeenRequest[];
  /** Ends requests without a response. */
  close(): void;
}

export function createOAuthServer(options: OAuthServerOptions): OAuthServer {
  const { client, people = PEOPLE, now = Date.now } = options;
  const grants = createGrants(client, now);
  const github = createGitHub();
  const google = createGoogle(client, now);
  const realms: Readonly<Record<string, Realm>> = {
    github,
    google,
    discord: createDiscord(),
  };
  const faults = new Map<string, Fault>();
  const seen: SeenRequest[] = [];
  const closing = new AbortController();

  async function answer(request: Request): Promise<Response | undefined> {
    const { pathname } = new URL(request.url);
    const [, name = "", rest = ""] = /^\/(\w+)(\/.*)$/.exec(pathname) ?? [];
    const realm = Object.hasOwn(realms, name) ? realms[name] : undefined;
    if (realm !== undefined && rest === realm.authorizePath) {
      const { title = realm.title } = options;
      return authorize(request, { client, grants, people, realm: name, title });
    }
    const isToken = rest === realm?.tokenPath;
    const form = isToken ? await readForm(request) : undefined;
    const { method, headers } = request;
    seen.push({ method, path: pathname, headers, form });
    if (realm === undefined) return undefined;
    const fault = faults.get(pathname);
    if (fault !== undefined) {
      return await answerWith(fault, request, closing.signal);
    }
    if (!isToken) {
      return await realm.answer(rest, grants.of(name, request), request);
    }
    if (form === undefined) return realm.answerError("invalid_request");
    const redeemed = await grants.redeem(name, form);
    return typeof redeemed === "string"
      ? realm.answerError(redeemed)
      : await realm.answerToken(redeemed, request);
  }

  return {
    github,
    google,
    faults,
    seen,
    close: () => closing.abort(),
    fetch: async (request) =>
      await answer(request) ?? new Response("Not found", { status: 404 }),
  };
}

/** Reads the form of a token request (RFC 6749, section 3.2). */
async function readForm(
  request: Request,
): Promise<URLSearchParams | undefined> {
  const type = request.headers.get("content-type") ?? "";
  return request.method === "POST" &&
      type.startsWith("application/x-www-form-urlencoded")
    ? new URLSearchParams(await request.text())
    : undefined;
}
