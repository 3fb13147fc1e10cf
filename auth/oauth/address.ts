/**
 * Which addresses are fit for what.
 *
 * @module
 */

/** What a URL in ASCII consists of; a backslash is read as a slash by some. */
const HTTP_URL = /^https?:\/\/[\x21-\x5b\x5d-\x7e]+$/i;
const MAX_LENGTH = 2000;

/** What {@linkcode isRedirectUri} asks for, in words. */
export const REDIRECT_URI =
  "an absolute http or https URL without credentials and fragment";

/**
 * Whether a provider can send users back there: absolute and without fragment
 * (RFC 6749, section 3.1.2), on the web, and in one unambiguous spelling.
 */
export function isRedirectUri(value: unknown): value is string {
  return parse(value) !== undefined;
}

/** What {@linkcode isEndpoint} asks for, in words. */
export const ENDPOINT =
  "an https URL (or http on this machine) without credentials and fragment";

/**
 * Whether secrets can be sent there: over TLS (RFC 6749, sections 3.1 and 3.2)
 * or without leaving the machine.
 */
export function isEndpoint(value: unknown): value is string {
  const url = parse(value);
  return url !== undefined &&
    (url.protocol === "https:" || isLoopbackName(url.hostname));
}

/** Describes what {@linkcode isIssuer} accepts, for error messages. */
export const ISSUER =
  "an https URL (or http on this machine) without credentials, query and fragment";

/** Whether a value is a valid issuer (OpenID Connect Discovery, section 3). */
export function isIssuer(value: unknown): value is string {
  return isEndpoint(value) && !value.includes("?");
}

/** Whether a URL points to this machine. */
export function isLoopback(url: string): boolean {
  return isLoopbackName(URL.parse(url)?.hostname ?? "");
}

function parse(value: unknown): URL | undefined {
  if (
    typeof value !== "string" || value.length > MAX_LENGTH ||
    !HTTP_URL.test(value) || value.includes("#") || !URL.canParse(value)
  ) {
    return undefined;
  }
  const url = new URL(value);
  return url.username === "" && url.password === "" ? url : undefined;
}

/** RFC 6761, section 6.3; the parser has made all spellings of an IP one. */
function isLoopbackName(hostname: string): boolean {
  return hostname === "localhost" || hostname.endsWith(".localhost") ||
    hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);
}
