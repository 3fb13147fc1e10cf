/**
 * The authorization endpoint (RFC 6749, section 4.1.1). All providers share it.
 *
 * @module
 */

import type { Client, Grants } from "./grants.ts";
import { consentPage } from "./page.ts";
import type { Person } from "./people.ts";

export interface AuthorizeOptions {
  readonly client: Client;
  readonly grants: Grants;
  readonly people: readonly Person[];
  /** The provider, such as `github`. */
  readonly realm: string;
  /** The name of the provider on the page. */
  readonly title: string;
}

/** Shows the consent page for GET. Redirects back to the client after POST. */
export async function authorize(
  request: Request,
  options: AuthorizeOptions,
): Promise<Response> {
  const { client, grants, people, realm, title } = options;
  const parameters = request.method === "POST"
    ? new URLSearchParams(await request.text())
    : new URL(request.url).searchParams;
  const redirectUri = parameters.get("redirect_uri") ?? "";
  // Section 4.1.2.1: don't redirect to an unregistered address.
  if (parameters.get("client_id") !== client.id) {
    return new Response("Unknown client_id", { status: 400 });
  }
  if (!isRegistered(redirectUri, client)) {
    return new Response("Unknown redirect_uri", { status: 400 });
  }
  const back = (answer: Record<string, string>) => {
    const url = new URL(redirectUri);
    for (const [name, value] of Object.entries(answer)) {
      url.searchParams.set(name, value);
    }
    const state = parameters.get("state");
    if (state !== null) url.searchParams.set("state", state);
    return new Response(null, {
      status: 303,
      headers: { location: url.href, "cache-control": "no-store" },
    });
  };
  const codeChallenge = parameters.get("code_challenge") ?? "";
  if (
    parameters.get("response_type") !== "code" ||
    parameters.get("code_challenge_method") !== "S256" ||
    !/^[\w-]{43}$/.test(codeChallenge)
  ) {
    return back({ error: "invalid_request" });
  }
  const scope = (parameters.get("scope") ?? "").split(" ").filter(Boolean);
  if (request.method !== "POST") {
    return consentPage({ title, people, scope, hidden: parameters });
  }
  const person = people.find(({ login }) => login === parameters.get("login"));
  if (person === undefined) return back({ error: "access_denied" });
  const nonce = parameters.get("nonce");
  return back({
    code: grants.issue({
      person,
      realm,
      redirectUri,
      scope,
      codeChallenge,
      nonce,
    }),
  });
}

function isRegistered(uri: string, client: Client): boolean {
  return client.redirectUris.some((registered) =>
    registered === uri || withoutPort(registered) === withoutPort(uri)
  );
}

/** Removes the port from an address on this machine. */
function withoutPort(uri: string): string {
  const url = URL.parse(uri);
  if (url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)) {
    url.port = "";
  }
  return url?.href ?? "";
}
