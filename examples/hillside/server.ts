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

/** What the server is told. */
export interface OAuthServerOptions {
  /** The application that it serves. */
  readonly client: Client;
  /** What its page calls it. Default: the provider that it is. */
  readonly title?: string;
  /** Who can sign in. Default: `PEOPLE`. */
  readonly people?: readonly Person[];
  /** The time, in milliseconds of the Unix epoch. Default: `Date.now`. */
  readonly now?: () => number;
}

/** A request that the server got, without its secrets. */
export interface SeenRequest {
  readonly method: string;
  /** The path, with the folder of the provider. */
  readonly path: string;
  readonly headers: Headers;
  /** The parameters of a request to a token endpoint. */
  readonly form: URLSearchParams | undefined;
}

/**
 * A local OAuth server that is GitHub below `/github`, Google below `/google`
 * and Discord below `/discord`, as their documentation has it. People sign in
 * on a page, by a click.
 */
export interface OAuthServer {
  /** Answers a request. */
  fetch(request: Request): Promise<Response>;
  /** The switch of GitHub. */
  readonly github: GitHub;
  /** The switches of Google. */
  readonly google: Google;
  /** How to answer below a path in place of the honest way, by path. */
  readonly faults: Map<string, Fault>;
  /** The requests so far, but for those of browsers. */
  readonly seen: readonly SeenRequest[];
  /** Lets go of requests that are not answered. */
  close(): void;
}

/** Makes an {@linkcode OAuthServer}. */
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

/** What token endpoints take: a form, by POST (RFC 6749, section 3.2). */
async function readForm(
  request: Request,
): Promise<URLSearchParams | undefined> {
  const type = request.headers.get("content-type") ?? "";
  return request.method === "POST" &&
      type.startsWith("application/x-www-form-urlencoded")
    ? new URLSearchParams(await request.text())
    : undefined;
}
