/**
 * The URLs of OAuth: redirect URIs, endpoints and issuers.
 *
 * @module
 */

import { type Rule, rule } from "../../core/check/rules.ts";

/** Visible ASCII without the backslash, which some parsers read as a slash. */
const HTTP_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;
const MAX_LENGTH = 2000;

/** Whether secrets can be sent to a URL (RFC 6749, sections 3.1 and 3.2). */
export function isEndpoint(value: unknown): value is string {
  const url = parse(value);
  return url !== undefined &&
    (url.protocol === "https:" || isLoopbackName(url.hostname));
}

/** Whether a URL points to this machine. */
export function isLoopback(url: string): boolean {
  return isLoopbackName(URL.parse(url)?.hostname ?? "");
}

/** A URL that a provider can send users to (RFC 6749, section 3.1.2). */
export const aRedirectUri: Rule = rule(
  "an absolute http or https URL without credentials and fragment",
  (value) => parse(value) !== undefined,
);
/** A URL that secrets can be sent to. */
export const anEndpoint: Rule = rule(
  "an https URL (or http on this machine) without credentials and fragment",
  isEndpoint,
);
/** An issuer (OpenID Connect Discovery, section 3). */
export const anIssuer: Rule = rule(
  "an https URL (or http on this machine) without credentials, query and fragment",
  (value) => isEndpoint(value) && !value.includes("?"),
);

function parse(value: unknown): URL | undefined {
  if (
    typeof value !== "string" || value.length > MAX_LENGTH ||
    !HTTP_URL.test(value) || value.includes("#")
  ) {
    return undefined;
  }
  const url = URL.parse(value);
  return url?.username === "" && url.password === "" ? url : undefined;
}

/** RFC 6761, section 6.3. The parser has normalized all spellings of an IP. */
function isLoopbackName(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") ||
    hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
