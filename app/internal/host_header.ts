/**
 * Checks which host a request is for, before anything reads its URL.
 *
 * Servers put what a client sent as `Host` in front of the path, whatever it
 * is. `Host: x/admin?` would choose the route.
 *
 * @module
 */

import { errorResponse } from "../error_response.ts";
import { offerUpgrade, upgrade } from "../upgrade.ts";

/** A name or an address, and a port (RFC 9112, section 3.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** Of the web, and of Deno's sockets that have no address. */
const SCHEMES: ReadonlySet<string> = new Set([
  "http://",
  "https://",
  "http+unix://",
  "http+vsock://",
]);

/** The host that was last found valid: most requests have the same one. */
let lastValid: string | undefined;

/** Whether a text is `host[:port]`, as a URL parser understands it. */
export function isHost(text: string): boolean {
  if (text === lastValid) return true;
  if (!HOST.test(text) || !URL.canParse(`http://${text}/`)) return false;
  lastValid = text;
  return true;
}

/**
 * Checks the host of a request.
 *
 * The target of a request may name a host as well, which overrides the header
 * (RFC 9112, section 3.2.2). Then the request is made anew with that host in
 * its header, so that whoever reads either sees the same.
 *
 * @returns The request; `undefined` if it names no valid host.
 */
export function readHost(request: Request): Request | undefined {
  const { url } = request;
  const header = request.headers.get("host");
  if (header !== null && !isHost(header)) return undefined;
  const start = url.indexOf("://") + 3;
  const scheme = url.slice(0, start);
  if (!SCHEMES.has(scheme)) return undefined;
  if (header !== null && url.startsWith(header, start)) {
    const next = url.charCodeAt(start + header.length);
    if (next === 47 /* / */) return request;
  }
  // Without a host, Deno puts the path of its socket file in that place.
  if (header === null && scheme.includes("+")) return request;
  const authority = /^[^/?#]*/.exec(url.slice(start))![0];
  if (!isHost(authority)) return undefined;
  // Without the header it is HTTP/2, HTTP/1.0, or a request made by code. A
  // URL has no default port, and no capitals.
  return header === null || isSameHost(header, url)
    ? request
    : withHost(request, authority);
}

function isSameHost(header: string, url: string): boolean {
  const { host, protocol } = new URL(url);
  return new URL(`${protocol}//${header}`).host === host;
}

/**
 * Makes a request that can be upgraded to a socket as the given one can;
 * `undefined` for methods that no `Request` can be made with, such as TRACE.
 */
function withHost(request: Request, host: string): Request | undefined {
  const { url, method, body } = request;
  const headers = new Headers(request.headers);
  headers.set("host", host);
  // Streams need `duplex`, except on Deno.
  const init = { method, headers, body, duplex: "half" };
  let copy: Request;
  try {
    copy = new Request(url, init);
  } catch {
    return undefined;
  }
  // Not handed over: Deno complains of whoever asks for it.
  Object.defineProperty(copy, "signal", { get: () => request.signal });
  offerUpgrade(copy, () => upgrade(request));
  return copy;
}

/** The response to a request that names no valid host. */
export function refuseHost(): Response {
  return errorResponse(
    400,
    "BAD_REQUEST",
    "The Host header is malformed: it must be a name or an address, and optionally a port",
  );
}
