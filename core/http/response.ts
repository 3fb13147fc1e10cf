/**
 * Recognizes, checks and copies responses.
 *
 * @module
 */

import { kindOf } from "../check/show.ts";
import { pathOf } from "../path.ts";

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
