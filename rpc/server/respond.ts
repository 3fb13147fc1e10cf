/**
 * The responses of a router.
 *
 * @module
 */

import { ownHeaderIn, type RPCError, stringifyError } from "../error.ts";

/** Made once: Deno reads it faster than `Response.json` makes its own. */
const OK = { headers: { "content-type": "application/json" } };

/**
 * An answer is its caller's alone, and a GET's would be kept by caches that
 * guess how long it is fresh (RFC 9111, section 4.2.2); a POST's never is. Who
 * knows better sets another `Cache-Control` in `responseHeaders`.
 */
const NO_STORE = "no-store";

/**
 * The response with the envelope of a success. A second header in the constant
 * costs ten times as much as setting it.
 *
 * @param added What the procedures have set.
 */
export function respond(
  envelope: string,
  method: string,
  added: Headers | undefined,
): Response {
  const response = new Response(method === "HEAD" ? null : envelope, OK);
  if (method !== "POST") response.headers.set("cache-control", NO_STORE);
  if (added !== undefined) addHeaders(response.headers, added);
  return response;
}

/**
 * Returns the response for an error. Its headers take precedence over those
 * that the procedures have set.
 */
export function respondError(
  error: RPCError,
  method: string,
  added?: Headers,
): Response {
  const { status } = error;
  const headers = new Headers({ "cache-control": NO_STORE });
  if (added !== undefined) addHeaders(headers, added);
  if (error.headers !== undefined) {
    addHeaders(headers, new Headers(error.headers));
  }
  headers.set("content-type", "application/json");
  const body = method === "HEAD" ? null : failure(error);
  return new Response(body, { status, headers });
}

/** The envelope of a failure. */
function failure(error: RPCError): string {
  return `{"ok":false,"error":${stringifyError(error)}}`;
}

/** @throws {TypeError} If a procedure has set what is not for it to set. */
export function checkHeaders(added: Headers, path: string): void {
  const name = ownHeaderIn(added);
  if (name === undefined) return;
  throw new TypeError(
    `Cannot answer ${path}: responseHeaders must not hold ${name}, which the response has itself`,
  );
}

/**
 * Sets headers, but for cookies, of which there may be many. A procedure that
 * failed has not had its own checked: then none are taken over.
 */
export function addHeaders(headers: Headers, added: Headers): void {
  if (ownHeaderIn(added) !== undefined) return;
  for (const [name, value] of added) {
    if (name === "set-cookie") headers.append(name, value);
    else headers.set(name, value);
  }
}
