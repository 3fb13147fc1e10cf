/**
 * Cached responses: which may be stored, and how they are served.
 *
 * @module
 */

import { kindOf } from "../core/check/rules.ts";
import { readCacheControl } from "../core/http/cache_control.ts";
import { concatBytes, toHex } from "../core/bytes/bytes.ts";
import {
  copyResponse,
  dropTraceHeaders,
  hasHeader,
} from "../core/http/message.ts";
import { claimedCookies, noteCacheControl } from "../core/personal.ts";
import { cookieObstacle } from "./cookie_rule.ts";

/** A response that was read. */
export interface Page {
  readonly status: number;
  readonly statusText: string;
  readonly headers: [string, string][];
  readonly body: Uint8Array<ArrayBuffer>;
  /** When it was made, in milliseconds of the Unix epoch. */
  readonly time: number;
  /** How long it is fresh from then on, in milliseconds. */
  readonly maxAge: number;
  /** Its age when it was made, in seconds, if it came from another cache. */
  readonly age: number;
  /**
   * The names of cookies that auth reads, if the page was made without asking for
   * the user. See `claimCookies`.
   */
  readonly ownCookies: readonly string[];
}

/** Statuses whose meaning doesn't depend on the one request (RFC 9110, 15.1). */
const STATUSES: readonly number[] = [200, 203, 300, 301, 308, 404, 410];

/** Maximum size of a cached body, in bytes. */
const MAX_BODY = 4 * 1024 * 1024;

/** Directives of a response that no shared cache may store. */
const PRIVATE = ["no-store", "no-cache", "private"];

/**
 * Returns why this cache must not share a response among all clients (RFC 9111,
 * section 3), or `undefined` if it may.
 *
 * @param vary The names of request headers in the key.
 */
export function obstacleOf(
  request: Request,
  { status, headers }: Response,
  vary: readonly string[],
): string | undefined {
  if (!STATUSES.includes(status)) return `the response has status ${status}`;
  const control = readCacheControl(headers.get("cache-control"));
  const directive = PRIVATE.find((name) => control.has(name));
  if (directive !== undefined) {
    return `the response has Cache-Control: ${directive}`;
  }
  // Allowed by the RFC, but all visitors would get one visitor's session.
  if (headers.has("set-cookie")) return "the response sets a cookie";
  // A stream of events has no end.
  if (/^text\/event-stream\b/i.test(headers.get("content-type") ?? "")) {
    return "the response is a stream of events";
  }
  if (
    hasHeader(request.headers, "authorization") && !allowsAuthorization(control)
  ) {
    return AUTHORIZED;
  }
  const other = (headers.get("vary") ?? "").split(",")
    .map((name) => name.trim().toLowerCase())
    .find((name) => name !== "" && !vary.includes(name));
  return other === undefined
    ? undefined
    : `the response varies by ${other}, which isn't in vary`;
}

const AUTHORIZED =
  "the request has Authorization, and the response doesn't allow that";

/**
 * Returns how long a response is fresh, in milliseconds.
 *
 * @param maxAge The option of the middleware, in seconds.
 */
export function lifetimeOf({ headers }: Response, maxAge: number): number {
  const control = readCacheControl(headers.get("cache-control"));
  // RFC 9111, section 4.2.1: the first of these counts.
  const stated = control.get("s-maxage") ?? control.get("max-age");
  const expires = headers.get("expires");
  if (stated === undefined && expires === null) return maxAge * 1_000;
  const date = headers.get("date") ?? new Date().toUTCString();
  const seconds = stated === undefined
    ? (Date.parse(expires!) - Date.parse(date)) / 1_000
    : /^\d+$/.test(stated)
    ? +stated
    : 0;
  // Section 4.2: another cache has used up a part of it.
  return Math.max(0, (seconds - ageOf(headers)) * 1_000) || 0;
}

/** Returns the age that a response comes with, in seconds. */
function ageOf(headers: Headers): number {
  return Math.max(0, Number(headers.get("age")) || 0);
}

/** Whether a request with `Authorization` may be cached (RFC 9111, 3.5). */
function allowsAuthorization(control: ReadonlyMap<string, string>): boolean {
  return control.has("public") || control.has("s-maxage") ||
    control.has("must-revalidate");
}

/** Returns a page's own `Cache-Control`. */
function controlOf({ headers }: Page): string | undefined {
  return headers.find(([name]) => name === "cache-control")?.[1];
}

/** Whether a page may be served after its lifetime (RFC 9111, section 5.2.2.2). */
export function mayBeStale(page: unknown): boolean {
  return !/\b(must|proxy)-revalidate\b/i.test(controlOf(page as Page) ?? "");
}

/**
 * Returns why a shared page must not answer a request, or `undefined` if it may.
 *
 * @param cookies The names of the request's cookies that a page may depend on.
 */
export function whyNotShared(
  { headers }: Request,
  page: Page,
  cookies: readonly string[],
): string | undefined {
  const cookie = cookieObstacle(cookies, page.ownCookies);
  if (cookie !== undefined || !hasHeader(headers, "authorization")) {
    return cookie;
  }
  const control = controlOf(page) ?? null;
  return allowsAuthorization(readCacheControl(control))
    ? undefined
    : AUTHORIZED;
}

/**
 * Reads a response. If its body is too large, returns a response with that body.
 */
export async function readPage(
  response: Response,
  time: number,
  maxAge: number,
  vary: readonly string[],
): Promise<Page | Response> {
  const copy = copyResponse(response);
  const { status, statusText, headers } = copy;
  const body = await readBody(copy);
  if (body instanceof ReadableStream) {
    return new Response(body, { status, statusText, headers });
  }
  const kept = new Headers(headers);
  // The trace belongs to the request that made the page.
  dropTraceHeaders(kept);
  if (!kept.has("etag")) kept.set("etag", await etagOf(body));
  if (!kept.has("date")) kept.set("date", new Date(time).toUTCString());
  if (vary.length > 0) kept.set("vary", vary.join(", "));
  return {
    status,
    statusText,
    headers: [...kept],
    body,
    time,
    maxAge,
    age: ageOf(kept),
    // Read last: the code that writes the body may claim cookies late.
    ownCookies: claimedCookies(),
  };
}

async function readBody(
  response: Response,
): Promise<Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body === null) return new Uint8Array();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    // Test runners for Node may have other classes than Node itself.
    if (Object(value)[Symbol.toStringTag] !== "Uint8Array") {
      throw notBytes(value);
    }
    chunks.push(value);
    size += value.length;
    if (size <= MAX_BODY) continue;
    return new ReadableStream({
      async pull(controller) {
        const chunk = chunks.shift() ?? (await reader.read()).value;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel: (reason) => reader.cancel(reason),
    });
  }
  return concatBytes(chunks);
}

/** The server fails at such a chunk too. As bytes, a string would be zeros. */
function notBytes(chunk: unknown): TypeError {
  const received = kindOf(chunk);
  return new TypeError(
    `Cannot read a response to cache: the chunks of its stream must be bytes, received ${received}; encode text, such as with pipeThrough(new TextEncoderStream())`,
  );
}

/** Strong: the same bytes have the same tag, on every server. */
async function etagOf(body: Uint8Array<ArrayBuffer>): Promise<string> {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
  return `"${toHex(hash.subarray(0, 16))}"`;
}

/**
 * Answers a request with a page, only its headers, or 304.
 *
 * @param cacheControlAt Returns the `Cache-Control` of a page without one, by the
 * page's age in seconds.
 */
export function respond(
  request: Request,
  page: Page,
  now: number,
  cacheControlAt: (age: number) => string,
): Response {
  const { status, statusText, body } = page;
  const headers = new Headers(page.headers);
  // Section 4.2.3: its age when it was made, and the time since then.
  const age = Math.floor(page.age + Math.max(0, now - page.time) / 1_000);
  if (age > 0) headers.set("age", `${age}`);
  if (!headers.has("cache-control") && !headers.has("expires")) {
    const cacheControl = cacheControlAt(age);
    noteCacheControl(cacheControl);
    headers.set("cache-control", cacheControl);
  }
  if (status === 200 && isUnchanged(request.headers, headers)) {
    // RFC 9110, section 15.4.5: a 304 has no headers about content.
    for (const name of [...headers.keys()]) {
      if (/^content-(?!location)/.test(name)) headers.delete(name);
    }
    return new Response(null, { status: 304, headers });
  }
  const isHead = request.method === "HEAD";
  if (isHead) headers.set("content-length", `${body.length}`);
  const content = isHead || body.length === 0 ? null : body;
  return new Response(content, { status, statusText, headers });
}

/** Cancels the body of a response that nobody will read. */
export function discard(response: Response | undefined): void {
  response?.body?.cancel().catch(() => {});
}

/** Preconditions in their order (RFC 9110, section 13.2.2). */
function isUnchanged(asked: Headers, page: Headers): boolean {
  const tags = asked.get("if-none-match");
  if (tags !== null) {
    const own = page.get("etag")?.replace(/^W\//, "");
    // The weak comparison (section 8.8.3.2); a tag may hold a comma.
    return tags.trim() === "*" ||
      [...tags.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, tag]) => tag === own);
  }
  const since = asked.get("if-modified-since");
  const modified = page.get("last-modified");
  return since !== null && modified !== null &&
    Date.parse(modified) <= Date.parse(since);
}

/** Returns the key of a page. It begins with `{`, unlike keys of functions. */
export function keyOfPage(request: Request, vary: readonly string[]): string {
  return JSON.stringify({
    url: request.url.split("#", 1)[0],
    // Other servers may accept a host in the header that differs from the URL's.
    host: request.headers.get("host") ?? undefined,
    // The key includes the names, because a nested cache may vary by others.
    vary: vary.map((name) => [name, request.headers.get(name)]),
  });
}
