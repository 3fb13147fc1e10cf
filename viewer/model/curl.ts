/**
 * A recorded request as a `curl` command.
 *
 * @module
 */

import { attributeText, methodOf } from "../../trace/export/attributes.ts";
import type { SpanData } from "../../trace/types.ts";

const HEADER_PREFIX = "http.request.header.";

/** Headers that curl sets itself, or that would make it fail. */
const OWN_HEADERS = new Set(["host", "content-length", "connection"]);

/**
 * The command that repeats the request of a span, for a POSIX shell.
 *
 * @param span The span of a request, on either side.
 * @param origin Where to send it if the span doesn't say, such as
 *   `http://localhost:8000`.
 * @returns The command, or `undefined` if the span isn't of an HTTP request.
 */
export function curlCommand(
  span: SpanData,
  origin: string,
): string | undefined {
  const url = requestUrl(span, origin);
  const method = methodOf(span);
  if (url === undefined || method === undefined) return undefined;

  // `--globoff`: braces and brackets of a query are not patterns.
  const parts = ["curl", "--globoff"];
  if (method !== "GET") {
    parts.push(
      method === "HEAD" ? "--head" : `--request ${shellQuote(method)}`,
    );
  }
  for (const [name, value] of Object.entries(span.attributes)) {
    if (!name.startsWith(HEADER_PREFIX)) continue;
    const header = name.slice(HEADER_PREFIX.length);
    if (OWN_HEADERS.has(header.toLowerCase())) continue;
    parts.push(`--header ${shellQuote(`${header}: ${value}`)}`);
  }
  parts.push(`--url ${shellQuote(url)}`);
  return parts.join(" ");
}

function requestUrl(span: SpanData, origin: string): string | undefined {
  const full = attributeText(span, "url.full", "http.url");
  if (full !== undefined) return /^https?:/i.test(full) ? full : undefined;
  const path = attributeText(span, "url.path", "http.target");
  if (path === undefined) return undefined;
  const query = attributeText(span, "url.query")?.replace(/^\?/, "");
  const suffix = query ? `?${query}` : "";
  return `${hostOf(span) ?? origin}/${path.replace(/^\/+/, "")}${suffix}`;
}

function hostOf(span: SpanData): string | undefined {
  const scheme = attributeText(span, "url.scheme") ?? "http";
  const header = attributeText(span, `${HEADER_PREFIX}host`);
  if (header !== undefined) return `${scheme}://${header}`;
  const address = attributeText(span, "server.address");
  if (address === undefined) return undefined;
  const port = attributeText(span, "server.port");
  return `${scheme}://${address}${port ? `:${port}` : ""}`;
}

/**
 * Quotes text for a POSIX shell. Within single quotes nothing is special but
 * the single quote itself; NUL can't be part of an argument and is left out.
 */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("\0", "").replaceAll("'", `'\\''`)}'`;
}
