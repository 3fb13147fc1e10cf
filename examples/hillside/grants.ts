/**
 * Authorization codes, and the access tokens that they were exchanged for.
 *
 * @module
 */

import type { Person } from "./people.ts";

/** The lifetime of a code in milliseconds (RFC 6749, section 4.1.2). */
const CODE_LIFETIME = 10 * 60 * 1000;

/** A registered application. */
export interface Client {
  readonly id: string;
  readonly secret: string;
  /** Addresses on this machine match any port (RFC 8252, section 7.3). */
  readonly redirectUris: readonly string[];
}

/** A person's consent. */
export interface Grant {
  readonly person: Person;
  /** The provider, such as `github`. */
  readonly realm: string;
  readonly redirectUri: string;
  readonly scope: readonly string[];
  /** The PKCE challenge of the method `S256`. */
  readonly codeChallenge: string;
  readonly nonce: string | null;
}

/** An error of the token endpoint (RFC 6749, section 5.2). */
export type TokenErrorCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "unsupported_grant_type";

/** Codes and tokens of one client. */
export interface Grants {
  issue(grant: Grant): string;
  /** Exchanges a code for a token. Each code works once. */
  redeem(realm: string, form: URLSearchParams): Promise<Redeemed>;
  /** Returns the grant of the request's bearer token. */
  of(realm: string, request: Request): Grant | undefined;
}

/** An access token with its grant, or an error. */
export type Redeemed =
  | { readonly accessToken: string; readonly grant: Grant }
  | TokenErrorCode;

interface IssuedCode {
  readonly grant: Grant;
  readonly expires: number;
  /** The token that this code was exchanged for. */
  accessToken?: string;
}

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
        // Section 4.1.2: a code used twice was stolen, so revoke its token.
        tokens.delete(issued.accessToken);
        return "invalid_grant";
      }
      // Marks the code as used before the first await.
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
