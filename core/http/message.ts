/**
 * Checks, reads and changes requests and responses: the path, headers, and copies
 * of responses.
 *
 * @module
 */

import { checkValue } from "../check/options.ts";
import { aRequest, kindOf } from "../check/rules.ts";

/**
 * Returns the path of an absolute URL, like `new URL(url).pathname`.
 *
 * Parsing takes more than 1 µs, so the path is cut out of the text. A path that a
 * parser would change is parsed. Otherwise `/admin/../x` would be one path for
 * routes and another one for `context.url`.
 *
 * @param url An absolute URL, as in `request.url`.
 * @returns The path, beginning with `/`, without query and fragment.
 */
export function pathOf(url: string): string {
  // Tracing, routes, caches and RPC ask for the path of the same request.
  // Remembering it saves each of them 0.1 µs.
  if (url !== lastURL) {
    lastPath = REWRITTEN.test(url)
      ? URL.parse(url)?.pathname ?? cutPath(url)
      : cutPath(url);
    lastURL = url;
  }
  return lastPath;
}

let lastURL = "";
let lastPath = "/";

/** Dot segments, and characters that a parser encodes or replaces. */
const REWRITTEN = /\/(?:\.|%2e)|[^!#-;=?-\[\]_a-z|~]/i;

function cutPath(url: string): string {
  const end = url.search(/[?#]/);
  const target = end === -1 ? url : url.slice(0, end);
  const start = target.indexOf("/", target.indexOf("://") + 3);
  return start === -1 ? "/" : target.slice(start);
}

/**
 * Checks that a handler got a request. Other frameworks pass their context, or
 * an object that resembles a request.
 *
 * @throws {TypeError} If it didn't.
 */
export function checkRequest(request: Request | undefined): void {
  // Faster than the rule.
  if (typeof request?.clone === "function") return;
  checkValue(request, "it", aRequest, "handle request");
}

/**
 * Whether a value is a `Response`. On Node, a server may replace the global class,
 * and responses from `fetch()` aren't instances of it. Safe for a proxy that
 * throws.
 */
export function isResponse(value: unknown): value is Response {
  try {
    return value instanceof Response ||
      Object(value)[Symbol.toStringTag] === "Response";
  } catch {
    return false;
  }
}

/**
 * Whether a value is a response that can be sent: its body wasn't read or sent
 * before, and it isn't `Response.error()`, which has no status.
 */
export function isUnread(value: unknown): value is Response {
  return isResponse(value) && !value.bodyUsed && value.type !== "error";
}

/** Returns a thrown response, and rethrows anything else. */
export function thrownResponse(error: unknown): Response {
  if (isUnread(error)) return error;
  throw error;
}

/** Creates the error for a thrown response that isn't {@linkcode isUnread}. */
export function unsentError({ method, url }: Request, thrown: Response) {
  const problem = thrown.type === "error"
    ? "the thrown Response is Response.error(); throw one with a status"
    : "the body of the thrown Response was read or sent before; throw a new one, or a clone()";
  return new TypeError(`Cannot answer ${method} ${pathOf(url)}: ${problem}`);
}

/**
 * Checks a result of the application's code. A response can be sent only once.
 *
 * @param requirement The start of the error message, such as `fetch must return`.
 * @param hint Returns how to fix a wrong value, for the end of the message.
 * @throws {TypeError} If it isn't a `Response` that is {@linkcode isUnread}.
 */
export function checkResponse(
  value: unknown,
  request: Request,
  requirement: string,
  hint: (value: unknown) => string = () => "",
): Response {
  if (isUnread(value)) return value;
  const received = !isResponse(value)
    ? `${kindOf(value)}${hint(value)}`
    : value.type === "error"
    ? "Response.error(); return one with a status"
    : "one with a body that was read before; return a new one, or a clone()";
  const path = pathOf(request.url);
  throw new TypeError(
    `Cannot answer ${request.method} ${path}: ${requirement} a Response, received ${received}`,
  );
}

/**
 * Copies a response. Its headers can be changed.
 *
 * On Bun, a text gets its type when it is sent, and a copy of it would have
 * none. Browsers would guess the type, and may run such a text as HTML.
 *
 * @param body The body of the copy. Default: the body of the response.
 */
export function copyResponse(
  response: Response,
  body?: ReadableStream<Uint8Array<ArrayBuffer>>,
): Response {
  // First: on Bun, reading the body removes a type that wasn't read before.
  const isUntyped = "Bun" in globalThis &&
    !response.headers.has("content-type");
  const copy = new Response(body ?? response.body, response);
  if (isUntyped && copy.body !== null) {
    copy.headers.set("content-type", "text/plain;charset=UTF-8");
  }
  return copy;
}

/**
 * Whether a request has a header. On Deno, `headers.has()` copies all headers of
 * a request first, and the copy lives as long as the request. `get()` doesn't.
 */
export function hasHeader(headers: Headers, name: string): boolean {
  return headers.get(name) !== null;
}

/**
 * Changes the headers of a response. Returns a copy if they are immutable, as in a
 * response from `fetch`, or if a handler may give the response to others too.
 */
export function editHeaders(
  response: Response,
  edit: (headers: Headers) => void,
): Response {
  if (!isReusable(response)) {
    try {
      edit(response.headers);
      return response;
    } catch {
      // They are immutable.
    }
  }
  const copy = copyResponse(response);
  edit(copy.headers);
  return copy;
}

/**
 * Whether a response may have no body, so that it can be sent several times. Reading
 * `body` would make a stream of bytes, so this reads what bodies rarely have: another
 * status than 200 without a type.
 */
function isReusable({ status, headers }: Response): boolean {
  return status !== 200 && (status === 204 || !headers.has("content-type"));
}

/** The header with the trace's id. */
export const TRACE_ID = "x-app-trace-id";

/** The entries that tracing adds to `Server-Timing`. */
const TIMING =
  /(?:^|, *)(?:trace;desc=00-[0-9a-f]{32}-[0-9a-f]{16}-01, )?total;dur=[\d.]+/g;

/** Removes tracing's entries from `Server-Timing`, and keeps the others. */
export function dropTraceTiming(headers: Headers): void {
  const timing = headers.get("server-timing");
  if (timing === null) return;
  const rest = timing.replace(TIMING, "").replace(/^, */, "");
  if (rest === "") headers.delete("server-timing");
  else headers.set("server-timing", rest);
}

/** Removes the headers that tracing has added. */
export function dropTraceHeaders(headers: Headers): void {
  if (!headers.has(TRACE_ID)) return;
  headers.delete(TRACE_ID);
  dropTraceTiming(headers);
}

/** Returns a response without the headers that tracing has added. */
export function withoutTraceHeaders(response: Response): Response {
  if (!response.headers.has(TRACE_ID)) return response;
  return editHeaders(response, dropTraceHeaders);
}
