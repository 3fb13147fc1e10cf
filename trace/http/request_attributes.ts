import { clip, redactQuery, redactText } from "../../core/redact/redact.ts";
import { isSecretParameter, REDACTED } from "../../core/redact/redact_url.ts";
import { MAX_TEXT } from "../record/limits.ts";
import type { Attributes, Span } from "../types.ts";

/**
 * Methods of RFC 9110 §9 and RFC 5789, the frequent ones first. Others become
 * `_OTHER`. A list, because a `Set` would have to hash each request's string.
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
 * Returns the attributes of a request's span, by the OpenTelemetry semantic
 * conventions for HTTP servers.
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
  if (query !== "") attributes["url.query"] = query;
  if (recordHeaders !== false) {
    const names = recordHeaders === true
      ? request.headers.keys()
      : recordHeaders;
    for (const name of names) keepHeader(attributes, request.headers, name);
  }
  return attributes;
}

/**
 * Returns the attributes of the span of a sent request, by the conventions for
 * HTTP clients. The fragment isn't sent, and often secret.
 */
export function sentRequestAttributes(method: string, url: URL): Attributes {
  const { protocol, username, password, host, hostname, pathname } = url;
  const user = username === "" && password === ""
    ? ""
    : `${REDACTED}:${REDACTED}@`;
  const query = queryOf(url.href);
  const search = query === "" ? "" : `?${query}`;
  const attributes: Record<string, string> = {
    "http.request.method": method,
    "url.full": `${protocol}//${user}${host}${pathname}${search}`,
    // Only URLs have brackets around an IPv6 address.
    "server.address": hostname.replace(/^\[(.*)\]$/, "$1"),
  };
  hideUnknownMethod(attributes);
  const port = url.port === "" ? PORTS[protocol] : Number(url.port);
  return { ...attributes, "server.port": port };
}

/** The default ports. */
const PORTS: Readonly<Record<string, number>> = { "http:": 80, "https:": 443 };

/**
 * Records the status of a response.
 *
 * @param least The least status that is an error. By OpenTelemetry, only 5xx is
 * the server's failure, but for clients 4xx is an error too.
 */
export function noteStatus(span: Span, status: number, least: 400 | 500): void {
  span.setAttribute("http.response.status_code", status);
  if (status < least) return;
  span.setAttribute("error.type", String(status));
  span.error();
}

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
  if (isSecretParameter(lower)) return;
  const value = headers.get(lower);
  if (value === null) return;
  // `Referer` and similar headers contain URLs with queries and fragments.
  const text = clip(value.split("#", 1)[0]!, MAX_TEXT);
  attributes[`http.request.header.${lower}`] = redactText(text);
}

/** Returns the redacted query, because other people may see traces. */
function queryOf(url: string): string {
  const start = url.indexOf("?");
  if (start === -1) return "";
  const end = url.indexOf("#", start);
  const query = end === -1 ? url.slice(start + 1) : url.slice(start + 1, end);
  return redactQuery(clip(query, MAX_TEXT));
}
