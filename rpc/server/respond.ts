/**
 * The responses of a router.
 *
 * @module
 */

import { sharedCacheHeaders } from "../../core/http/cache_control.ts";
import { ownHeaderIn, type RPCError, stringifyError } from "../error.ts";

/** Created once, which is faster than `Response.json` in Deno. */
const OK = { headers: { "content-type": "application/json" } };

/**
 * Without this header, caches may store the response to a GET by a heuristic
 * (RFC 9111, section 4.2.2). Procedures may set another `Cache-Control` in
 * `responseHeaders`.
 */
const NO_STORE = "no-store";

/**
 * Returns the response for a success. Setting the second header costs a tenth
 * of having it in the constant.
 *
 * @param added The headers set by procedures.
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
 * Returns the response for an error. Its headers take precedence over headers
 * that procedures set. Only its own may let caches store it.
 */
export function respondError(
  error: RPCError,
  method: string,
  added?: Headers,
): Response {
  const { status } = error;
  const headers = new Headers();
  if (added !== undefined) addHeaders(headers, added);
  forbidStoring(headers);
  if (error.headers !== undefined) {
    addHeaders(headers, new Headers(error.headers));
  }
  headers.set("content-type", "application/json");
  const envelope = `{"ok":false,"error":${stringifyError(error)}}`;
  const body = method === "HEAD" ? null : envelope;
  return new Response(body, { status, headers });
}

/** Keeps a failure out of caches: its procedure meant the success. */
export function forbidStoring(headers: Headers): void {
  for (const name of sharedCacheHeaders(headers)) headers.delete(name);
  headers.set("cache-control", NO_STORE);
}

/** @throws {TypeError} If a procedure has set a reserved header. */
export function checkHeaders(added: Headers, path: string): void {
  const name = ownHeaderIn(added);
  if (name === undefined) return;
  throw new TypeError(
    `Cannot answer ${path}: responseHeaders must not contain ${name}, which the response sets itself`,
  );
}

/**
 * Sets headers, and appends cookies. The headers of a failed procedure weren't
 * checked: if one is reserved, all are ignored.
 */
export function addHeaders(headers: Headers, added: Headers): void {
  if (ownHeaderIn(added) !== undefined) return;
  for (const [name, value] of added) {
    if (name === "set-cookie") headers.append(name, value);
    else headers.set(name, value);
  }
}
