/**
 * A recorded request as a `curl` command.
 *
 * @module
 */

import { attributeText, methodOf } from "../../trace/export/attributes.ts";
import type { SpanData } from "../../trace/types.ts";
import { quote, urlArguments } from "./curl_quote.ts";
import { cutText } from "./text.ts";

const HEADER_PREFIX = "http.request.header.";

/** Headers that curl sets itself, or that would make it fail. */
const OWN_HEADERS = new Set(["host", "content-length", "connection"]);

/** Methods whose requests have a body. */
const WITH_BODY = new Set(["POST", "PUT", "PATCH"]);

/** Safe methods and header names. Tokens of HTTP may also contain `$` and `%`. */
const METHOD = /^[A-Za-z][A-Za-z-]*$/;
const HEADER_NAME = /^[\w-]+$/;

/**
 * Returns the command that repeats the request of a span. POSIX shells,
 * PowerShell and cmd.exe read it alike, whatever was recorded. Headers that
 * can't be quoted for all of them are left out. curl reads parts that aren't
 * recorded from files, see {@linkcode missingParts}.
 *
 * @param span The span of a request, on either side.
 * @param origin The origin if the span has none, such as
 * `http://localhost:8000`.
 * @param procedure The only procedure that the request called, if it is known.
 * @returns `undefined` if the span isn't of an HTTP request, or has a URL or a
 * method that can't be quoted for all shells.
 */
export function curlCommand(
  span: SpanData,
  origin: string,
  procedure?: string,
): string | undefined {
  const href = requestUrl(span, origin, procedure);
  const url = href && urlArguments(href);
  const method = methodOf(span);
  if (!url || method === undefined || !METHOD.test(method)) return undefined;
  const parts = ["curl"];
  if (method !== "GET") {
    parts.push(method === "HEAD" ? "--head" : `--request ${method}`);
  }
  for (const [, header] of headersOf(span)) {
    if (header !== undefined) parts.push(`--header ${header}`);
  }
  const missing = missingParts(span, procedure);
  if (missing.some(({ file }) => file === INPUT)) {
    parts.push('--header "content-type: application/json"');
  }
  for (const { option, file } of missing) parts.push(`${option} "@${file}"`);
  parts.push(url);
  return parts.join(" ");
}

/** The file with the input of a procedure. */
const INPUT = "input.json";

/**
 * Returns the parts of a request that aren't recorded: their names, the files
 * that curl reads them from, and its options for that.
 */
export function missingParts(span: SpanData, procedure?: string) {
  if (!WITH_BODY.has(methodOf(span) ?? "")) return [];
  const option = "--data-binary";
  const body = inputPath(span, procedure) === undefined
    ? { what: "its body", file: "body.txt", option }
    : { what: `the input of ${cutText(procedure!, 60)}`, file: INPUT, option };
  if (headersOf(span).length > 0) return [body];
  return [
    { what: "its headers", file: "headers.txt", option: "--header" },
    body,
  ];
}

/**
 * Returns the path that accepts the input of the procedure alone.
 * `undefined` if the request isn't the call of that procedure.
 */
function inputPath(span: SpanData, procedure?: string): string | undefined {
  if (procedure === undefined) return undefined;
  const end = `/${procedure}`;
  const path = attributeText(span, "url.path");
  if (path?.endsWith(end)) return path;
  const route = attributeText(span, "http.route");
  return route === `${path}${end}` ? route : undefined;
}

/** The names of the headers that the command leaves out. */
export function omittedHeaders(span: SpanData): string[] {
  return headersOf(span).flatMap(([name, header]) =>
    header === undefined ? [name] : []
  );
}

function headersOf(
  { attributes }: SpanData,
): [name: string, quoted: string | undefined][] {
  return Object.entries(attributes).flatMap(([attribute, value]) => {
    if (!attribute.startsWith(HEADER_PREFIX)) return [];
    const name = attribute.slice(HEADER_PREFIX.length);
    if (OWN_HEADERS.has(name.toLowerCase())) return [];
    // With a colon and no value, curl wouldn't send the header.
    const header = value === "" ? `${name};` : `${name}: ${value}`;
    return [[name, HEADER_NAME.test(name) ? quote(header) : undefined]];
  });
}

/** Returns the URL without its fragment, which isn't sent. */
function requestUrl(
  span: SpanData,
  origin: string,
  procedure?: string,
): string | undefined {
  const recorded = recordedUrl(span, origin) ?? "";
  if (!URL.canParse(recorded)) return undefined;
  const url = new URL(recorded);
  if (!/^https?:$/.test(url.protocol)) return undefined;
  if (missingParts(span, procedure).length > 0) {
    url.pathname = inputPath(span, procedure) ?? url.pathname;
  }
  url.hash = "";
  return url.href;
}

function recordedUrl(span: SpanData, origin: string): string | undefined {
  const full = attributeText(span, "url.full", "http.url");
  if (full !== undefined) return full;
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
