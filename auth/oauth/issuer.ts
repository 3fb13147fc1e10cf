/**
 * Which server a callback comes from (RFC 9207). A mix-up attack has the answer
 * of one server delivered as that of another, which then gets the code.
 *
 * @module
 */

import { show } from "../../app/internal/show.ts";

/** The server that a sign-in was begun with, as far as it is known. */
export interface IssuerRule {
  /** The server's issuer, where it is known. */
  readonly issuer: string | undefined;
  /** The authorization URL without its query. */
  readonly server: string | undefined;
  /** Whether a callback without `iss` is refused. */
  readonly isRequired: boolean;
}

/** A longer address isn't kept in the cookie. */
const MAX_LENGTH = 512;

/** Returns the part of an authorization URL that `iss` is compared with. */
export function serverOf(authorizationUrl: string): string | undefined {
  const url = URL.parse(authorizationUrl);
  const server = url === null ? "" : url.origin + url.pathname;
  return server !== "" && server.length <= MAX_LENGTH ? server : undefined;
}

/**
 * Returns why a callback's `iss` isn't the server's; `undefined` if it is.
 *
 * Without a known issuer, the authorization URL must lie below `iss`. That holds
 * for nearly all servers, and never for a server on another host.
 */
export function complaintAboutIssuer(
  iss: unknown,
  { issuer, server, isRequired }: IssuerRule,
): string | undefined {
  if (iss === undefined || iss === null) {
    return isRequired
      ? "the callback has no iss, which this provider always sends; hand it to handleOAuthCallback()"
      : undefined;
  }
  if (typeof iss !== "string") return "iss must be a string";
  if (issuer !== undefined) {
    return iss === issuer
      ? undefined
      : `the callback is of issuer ${show(iss)}, not ${show(issuer)}`;
  }
  if (server !== undefined && isAbove(iss, server)) return undefined;
  return `the callback is of issuer ${
    show(iss)
  }, which is not known to be this provider's; if it is, give it as issuer`;
}

function isAbove(iss: string, server: string): boolean {
  const origin = URL.parse(iss)?.origin;
  return origin !== undefined && origin !== "null" &&
    origin === URL.parse(server)?.origin &&
    (server === iss || server.startsWith(iss.endsWith("/") ? iss : `${iss}/`));
}
