/**
 * What an OAuth server remembers: codes and the access tokens made of them.
 *
 * @module
 */

import type { Person } from "./people.ts";

/** How long a code is good for, in milliseconds (RFC 6749, section 4.1.2). */
const CODE_LIFETIME = 10 * 60 * 1000;

/** An application that the server knows. */
export interface Client {
  readonly id: string;
  readonly secret: string;
  /** On this machine, any port will do (RFC 8252, section 7.3). */
  readonly redirectUris: readonly string[];
}

/** What a person has allowed. */
export interface Grant {
  readonly person: Person;
  /** The part of the server where it was allowed, such as `github`. */
  readonly realm: string;
  readonly redirectUri: string;
  readonly scope: readonly string[];
  /** The PKCE challenge, by the method `S256`. */
  readonly codeChallenge: string;
  readonly nonce: string | null;
}

/** Why a code or a client is refused (RFC 6749, section 5.2). */
export type TokenErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unsupported_grant_type";

/** Keeps codes and tokens. */
export interface Grants {
  /** Makes a code. */
  issue(grant: Grant): string;
  /** Takes a code, once, or says why not. */
  redeem(realm: string, form: URLSearchParams): Promise<Redeemed>;
  /** What the bearer of this request may know. */
  of(realm: string, request: Request): Grant | undefined;
}

/** An access token with what it stands for, or why there is none. */
export type Redeemed =
  | { readonly accessToken: string; readonly grant: Grant }
  | TokenErrorCode;

interface IssuedCode {
  readonly grant: Grant;
  readonly expires: number;
  /** The token that was made of it. */
  accessToken?: string;
}

/** Makes {@linkcode Grants} for one client. */
export function createGrants(client: Client, now: () => number): Grants {
  const codes = new Map<string, IssuedCode>();
  const tokens = new Map<string, Grant>();

  return {
    issue(grant) {
      const code = crypto.randomUUID();
      codes.set(code, { grant, expires: now() + CODE_LIFETIME });
      return code;
    },
    async redeem(realm, form) {
      for (const name of form.keys()) {
        // Section 3.2: no parameter more than once.
        if (form.getAll(name).length > 1) return "invalid_request";
      }
      if (form.get("grant_type") !== "authorization_code") {
        return "unsupported_grant_type";
      }
      if (
        form.get("client_id") !== client.id ||
        form.get("client_secret") !== client.secret
      ) {
        return "invalid_client";
      }
      const issued = codes.get(form.get("code") ?? "");
      if (issued === undefined || issued.grant.realm !== realm) {
        return "invalid_grant";
      }
      if (issued.accessToken !== undefined) {
        // Section 4.1.2: somebody has a copy, so what was made of it goes too.
        tokens.delete(issued.accessToken);
        return "invalid_grant";
      }
      // Taken before anything is waited for.
      const accessToken = crypto.randomUUID();
      issued.accessToken = accessToken;
      const { grant } = issued;
      const verifier = form.get("code_verifier") ?? "";
      if (
        now() >= issued.expires ||
        form.get("redirect_uri") !== grant.redirectUri ||
        !/^[\w.~-]{43,128}$/.test(verifier) ||
        await challengeOf(verifier) !== grant.codeChallenge
      ) {
        return "invalid_grant";
      }
      tokens.set(accessToken, grant);
      return { accessToken, grant };
    },
    of(realm, request) {
      const header = request.headers.get("authorization") ?? "";
      const grant = tokens.get(/^Bearer (.+)$/.exec(header)?.[1] ?? "");
      return grant?.realm === realm ? grant : undefined;
    },
  };
}

/** RFC 7636, section 4.6. */
async function challengeOf(verifier: string): Promise<string> {
  const bytes = new TextEncoder().encode(verifier);
  const hash = await crypto.subtle.digest("SHA-256", bytes);
  return new Uint8Array(hash).toBase64({
    alphabet: "base64url",
    omitPadding: true,
  });
}
