import type { ConnectionInfo } from "../app/context.ts";
import { errorResponse } from "../app/error_response.ts";

/** Decides whether a request may see or add to the traces. */
export type Authorize = (
  request: Request,
  info: ConnectionInfo | undefined,
) => boolean | Promise<boolean>;

/**
 * What proxies add to the requests that they hand on (RFC 7239; RFC 9110,
 * section 7.6.3; and habits).
 */
const PROXY_HEADERS = [
  "forwarded",
  "via",
  "x-forwarded-for",
  "x-forwarded-host",
  "x-forwarded-proto",
  "x-real-ip",
  "cf-connecting-ip",
];

/**
 * The rule that holds unless another is given: a request from this machine
 * that a browser would not have sent on behalf of another site.
 *
 * All four have to hold. The connection comes from a loopback address, which
 * keeps out the network. The `Host` is a loopback name, which keeps out a web
 * page whose own name was pointed at 127.0.0.1 (DNS rebinding). The `Origin`,
 * if there is one, is that same host, which keeps out other web pages. And no
 * header tells of a proxy, behind which all the world has a loopback address;
 * a proxy that adds none of them can't be told, so keep traces off behind one.
 */
export function isLocalRequest(
  request: Request,
  info: ConnectionInfo | undefined,
): boolean {
  if (PROXY_HEADERS.some((name) => request.headers.has(name))) return false;
  const host = request.headers.get("host") ?? URL.parse(request.url)?.host;
  if (host === undefined) return false;
  if (!isLoopbackName(host.replace(/:\d+$/, ""))) return false;
  const origin = request.headers.get("origin");
  if (origin !== null && !isOriginOf(origin, host)) return false;
  const address = info?.remoteAddr;
  if (address === undefined) return false;
  return "hostname" in address
    ? isLoopbackAddress(address.hostname)
    // A socket file is on this machine; the other end of a vsock is not.
    : "path" in address;
}

function isLoopbackName(name: string): boolean {
  return LOCALHOST.test(name) || name === "[::1]" || LOOPBACK.test(name);
}

function isLoopbackAddress(address: string): boolean {
  return address === "::1" || LOOPBACK.test(address.replace(/^::ffff:/, ""));
}

/** The name that is always this machine's, and those below (RFC 6761, section 6.3). */
const LOCALHOST = /^(?:[\w-]+\.)*localhost$/i;
const LOOPBACK = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

function isOriginOf(origin: string, host: string): boolean {
  return origin === `http://${host}` || origin === `https://${host}`;
}

/** Refuses a request that `authorize` does not let in. */
export async function refuse(
  request: Request,
  info: ConnectionInfo | undefined,
  authorize: Authorize,
): Promise<Response | undefined> {
  if (await authorize(request, info)) return undefined;
  const unknownPeer = authorize === isLocalRequest &&
    info?.remoteAddr === undefined;
  return errorResponse(
    403,
    "FORBIDDEN",
    unknownPeer
      ? "Traces are only shown to this machine, and the server did not tell where the request came from: hand on the info that Deno.serve gives, or set authorize"
      : "Traces are only shown to this machine and to its own pages; set authorize to let others in",
  );
}
