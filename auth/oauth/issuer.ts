/**
 * Checks which server a callback comes from (RFC 9207). In a mix-up attack, one
 * server's answer is passed off as another's. The other server then gets the
 * code.
 *
 * @module
 */

import { show } from "../../core/check/rules.ts";
import type { PendingSignIn } from "./flow_cookie.ts";

/** Maximum length of a URL in the cookie. */
const MAX_LENGTH = 512;

/** Returns the part of an authorization URL that `iss` is compared with. */
export function serverOf(authorizationUrl: string): string | undefined {
  const url = URL.parse(authorizationUrl);
  const server = url === null ? "" : url.origin + url.pathname;
  return server !== "" && server.length <= MAX_LENGTH ? server : undefined;
}

/**
 * Returns the problem with a callback's `iss`, or `undefined` if it matches.
 *
 * Without a known issuer, the authorization URL must be below `iss`. Nearly all
 * servers meet this rule, and a server on another host never does.
 *
 * @param issuer The issuer of the server that the sign-in began with, if known.
 */
export function issuerProblem(
  iss: unknown,
  issuer: string | undefined,
  { server, isIssuerRequired }: PendingSignIn,
): string | undefined {
  if (iss === undefined || iss === null) {
    return isIssuerRequired
      ? "the callback has no iss, which this provider always sends; pass it to handleOAuthCallback()"
      : undefined;
  }
  if (typeof iss !== "string") return "iss must be a string";
  if (issuer !== undefined) {
    return iss === issuer
      ? undefined
      : `iss of the callback must be ${show(issuer)}, received ${show(iss)}`;
  }
  if (server !== undefined && isAbove(iss, server)) return undefined;
  const received = show(iss);
  return `iss of the callback must belong to this provider, received ${received}; if that is the provider's issuer, set it as issuer`;
}

function isAbove(iss: string, server: string): boolean {
  const origin = URL.parse(iss)?.origin;
  return origin !== undefined && origin !== "null" &&
    origin === URL.parse(server)?.origin &&
    (server === iss || server.startsWith(iss.endsWith("/") ? iss : `${iss}/`));
}
