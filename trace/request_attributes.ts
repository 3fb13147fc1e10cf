import type { Attributes } from "./types.ts";

/**
 * Methods of RFC 9110 §9 and RFC 5789, the frequent ones first; others are
 * told as `_OTHER`. A list, since each request brings a string of its own,
 * which a `Set` would have to hash.
 */
const KNOWN_METHODS = [
  "GET",
  "POST",
  "HEAD",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
  "CONNECT",
  "TRACE",
];

/**
 * Names of query parameters and headers that hold something secret: what they
 * contain, and words that are one part of them.
 */
const SECRET_NAME =
  /token|secret|passw|passphrase|api[-_]?key|access[-_]?key|signature|credential|sess|jwt|authori[sz]ation|cookie|assertion|bearer|csrf|xsrf|saml|(?:^|[-_.])(?:auth|pass|pwd\d*|otp|pin|sid|sig|key|dpop|ticket|principal|oidc)(?:[-_.]|$)|^(?:code|state|access|refresh|cf-access-client-id)$|(?:auth|oauth)_?code/i;

const REDACTED = "REDACTED";

/**
 * What a request's span is to know of the request, under the names of the
 * OpenTelemetry semantic conventions for HTTP servers.
 */
export function requestAttributes(
  request: Request,
  path: string,
  recordHeaders: boolean | readonly string[],
): Attributes {
  const { method, url } = request;
  const attributes: Record<string, string> = {
    "http.request.method": method,
    "url.path": path,
  };
  hideUnknownMethod(attributes);
  const query = queryOf(url);
  if (query !== "") attributes["url.query"] = redactQuery(query);
  if (recordHeaders !== false) {
    const names = recordHeaders === true
      ? request.headers.keys()
      : recordHeaders;
    for (const name of names) keepHeader(attributes, request.headers, name);
  }
  return attributes;
}

/**
 * What the span of a request that is sent is to know of it, under the names of
 * the conventions for HTTP clients. The fragment isn't sent, and often secret.
 */
export function sentRequestAttributes(method: string, url: URL): Attributes {
  const { protocol, username, password, host, hostname, pathname } = url;
  const user = username === "" && password === ""
    ? ""
    : `${REDACTED}:${REDACTED}@`;
  const query = queryOf(url.href);
  const search = query === "" ? "" : `?${redactQuery(query)}`;
  const attributes: Record<string, string> = {
    "http.request.method": method,
    "url.full": `${protocol}//${user}${host}${pathname}${search}`,
    // An IPv6 address stands in brackets in a URL only.
    "server.address": hostname.replace(/^\[(.*)\]$/, "$1"),
  };
  hideUnknownMethod(attributes);
  const port = url.port === "" ? PORTS[protocol] : Number(url.port);
  return { ...attributes, "server.port": port };
}

/** The ports that a URL needn't name. */
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

function hideUnknownMethod(attributes: Record<string, string>): void {
  const method = attributes["http.request.method"]!;
  if (KNOWN_METHODS.includes(method)) return;
  attributes["http.request.method"] = "_OTHER";
  attributes["http.request.method_original"] = method;
}

function keepHeader(
  attributes: Record<string, string>,
  headers: Headers,
  name: string,
): void {
  const lower = name.toLowerCase();
  if (SECRET_NAME.test(lower)) return;
  const value = headers.get(lower);
  if (value === null) return;
  // `Referer` and its like hold addresses, and those queries and fragments.
  const query = value.indexOf("?") + 1;
  const end = value.indexOf("#") === -1 ? value.length : value.indexOf("#");
  attributes[`http.request.header.${lower}`] = query === 0
    ? value.slice(0, end)
    : value.slice(0, query) + redactQuery(value.slice(query, end));
}

function queryOf(url: string): string {
  const start = url.indexOf("?");
  if (start === -1) return "";
  const end = url.indexOf("#", start);
  return end === -1 ? url.slice(start + 1) : url.slice(start + 1, end);
}

/** Traces are shown to others, so what opens doors is left out of them. */
function redactQuery(query: string): string {
  return query.split("&").map((pair) => {
    const end = pair.indexOf("=");
    if (end === -1) return pair;
    const name = pair.slice(0, end);
    return SECRET_NAME.test(decode(name)) ? `${name}=${REDACTED}` : pair;
  }).join("&");
}

/** A name may be spelled with escapes, such as `%74oken`. */
function decode(name: string): string {
  if (!name.includes("%")) return name;
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
