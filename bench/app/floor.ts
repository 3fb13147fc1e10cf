/**
 * The floor of a host: the minimum that every request needs, in the least code.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";

/** Answers a request whose path is already extracted. */
export type Work = (
  request: Request,
  path: string,
) => Response | Promise<Response>;

const storage = new AsyncLocalStorage<{ request: Request; path: string }>();

/**
 * Runs a handler with a checked `Host`, the path and an async context. It has
 * no route table, no method check and no error handling.
 */
export function createFloor(
  work: Work,
): (request: Request) => Response | Promise<Response> {
  return (request) => {
    if (!hasValidHost(request)) return new Response(null, { status: 400 });
    const path = cutPath(request.url);
    return storage.run({ request, path }, work, request, path);
  };
}

/** A name or an address, and a port (RFC 9112, section 3.2). */
const HOST = /^(?:[\w.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/** The last valid host, because most requests have the same one. */
let lastHost: string | undefined;

/** Whether `Host` is present and valid. Two headers arrive as `a, b`. */
export function hasValidHost({ headers }: Request): boolean {
  const host = headers.get("host");
  if (host === null || host !== lastHost && !HOST.test(host)) return false;
  lastHost = host;
  return true;
}

/** Returns the path of an absolute URL. */
export function cutPath(url: string): string {
  const start = url.indexOf("/", 8);
  const end = url.indexOf("?", start);
  return end === -1 ? url.slice(start) : url.slice(start, end);
}

/** The response of code by hand for other paths. */
export function notFound(): Response {
  return new Response(null, { status: 404 });
}
