import type { ConnectionInfo } from "../../core/context.ts";

/**
 * The kind of access to traces. `read` opens the viewer, the API or the live
 * stream. `write` posts the spans of a page.
 */
export type TraceAccess = "read" | "write";

/**
 * Decides whether a request may read traces or post spans. Only `true` allows
 * it. `false`, `undefined` and `null` are a 403. Any other value is an error.
 */
export type Authorize = (
  request: Request,
  info: ConnectionInfo | undefined,
  access: TraceAccess,
) => boolean | Promise<boolean>;

/**
 * What proxies add to the requests that they hand on (RFC 7239; RFC 9110,
 * section 7.6.3; and habits).
 */
const PROXY_HEADER =
  /^(?:forwarded|via|x-forwarded(?:-.*)?|x-real-ip|(?:[a-z-]+-)?(?:client|connecting)-ip|cf-ray|x-envoy-.*|x-original-.*)$/;

/**
 * Allows requests from this machine that a browser wouldn't have sent on behalf
 * of another site. Outside production it is the default of `authorize`.
 *
 * All four conditions must hold:
 *
 * - The connection comes from a loopback address. This keeps out the network.
 * - The `Host` is a loopback name. This keeps out pages whose name points to
 *   127.0.0.1 (DNS rebinding).
 * - The `Origin`, if present, is the same host, and `Sec-Fetch-Site` isn't
 *   `cross-site`. This keeps out other pages, except for links to the viewer.
 * - No header comes from a proxy: behind one, all clients have its address.
 *
 * A proxy on this machine that adds none of these headers looks like a local
 * client. nginx's plain `proxy_pass` adds none. Don't use this rule behind such
 * a proxy.
 *
 * @param request The request.
 * @param info The connection, as `Deno.serve` passes it. Without it, the request
 * is refused.
 * @returns Whether the request is local.
 *
 * @example
 * ```ts
 * import { isLocalRequest } from "@quartet/kit/trace";
 *
 * const request = new Request("http://localhost:8000/__app/traces");
 * const address = { transport: "tcp", port: 50_000 } as const;
 * const local = { remoteAddr: { ...address, hostname: "127.0.0.1" } };
 * const remote = { remoteAddr: { ...address, hostname: "192.0.2.1" } };
 * console.assert(isLocalRequest(request, local));
 * console.assert(!isLocalRequest(request, remote));
 * ```
 */
export function isLocalRequest(
  request: Request,
  info: ConnectionInfo | undefined,
): boolean {
  for (const name of request.headers.keys()) {
    if (PROXY_HEADER.test(name)) return false;
  }
  if (isCrossSiteResource(request)) return false;
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

/** Whether a page of another site loads it as a resource rather than links to it. */
function isCrossSiteResource({ headers }: Request): boolean {
  return headers.get("sec-fetch-site") === "cross-site" &&
    headers.get("sec-fetch-mode") !== "navigate";
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
