import type { Attributes } from "./types.ts";

/** Methods of RFC 9110 §9 and RFC 5789; others are told as `_OTHER`. */
const KNOWN_METHODS = new Set([
  "GET",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "HEAD",
  "OPTIONS",
  "CONNECT",
  "TRACE",
]);

/** Headers whose values are credentials. */
const SECRET_HEADERS = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
  "set-cookie",
  "x-api-key",
]);

/** Names of query parameters and headers that hold something secret. */
const SECRET_NAME =
  /token|secret|password|passwd|api[-_]?key|signature|credential|session|^(code|state|sig|key|auth|jwt)$/i;

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
  if (!KNOWN_METHODS.has(method)) {
    attributes["http.request.method"] = "_OTHER";
    attributes["http.request.method_original"] = method;
  }
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

function keepHeader(
  attributes: Record<string, string>,
  headers: Headers,
  name: string,
): void {
  const lower = name.toLowerCase();
  if (SECRET_HEADERS.has(lower) || SECRET_NAME.test(lower)) return;
  const value = headers.get(lower);
  if (value !== null) attributes[`http.request.header.${lower}`] = value;
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
    const name = end === -1 ? pair : pair.slice(0, end);
    return end !== -1 && SECRET_NAME.test(name) ? `${name}=${REDACTED}` : pair;
  }).join("&");
}
