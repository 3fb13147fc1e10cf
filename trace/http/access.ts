import { show } from "../../core/check/rules.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import { checkRequest } from "../../core/http/message.ts";
import { isDevCommand, isProduction } from "../../core/runtime/environment.ts";
import type { Tracer } from "../types.ts";

/**
 * The kind of access to traces. `read` opens the viewer, the API or the live
 * stream. `write` posts the spans of a page or of another service.
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
 * Headers that proxies add to requests (RFC 7239; RFC 9110, section 7.6.3; and
 * habits).
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
  return problemOf(request, info) === undefined;
}

/** Returns why a request isn't local, or `undefined` if it is. */
function problemOf(
  request: Request,
  info: ConnectionInfo | undefined,
): string | undefined {
  for (const name of request.headers.keys()) {
    if (PROXY_HEADER.test(name)) {
      return `this request came through a proxy, as its header ${name} shows`;
    }
  }
  if (isCrossSiteResource(request)) {
    return "this request comes from a page of another site";
  }
  const host = request.headers.get("host") ?? URL.parse(request.url)?.host;
  if (host === undefined || !isLoopbackName(host.replace(/:\d+$/, ""))) {
    return "the host of this request isn't localhost or a loopback address";
  }
  const origin = request.headers.get("origin");
  if (![null, `http://${host}`, `https://${host}`].includes(origin)) {
    return "this request comes from a page of another origin";
  }
  const address = info?.remoteAddr;
  if (address === undefined) {
    return "the address of the client is unknown; pass the info of Deno.serve to fetch()";
  }
  const isLocal = "hostname" in address
    ? isLoopbackAddress(address.hostname)
    // A socket file is on this machine; the other end of a vsock is not.
    : "path" in address;
  return isLocal
    ? undefined
    : "this request comes from another machine or container";
}

/**
 * Whether a page of another site loads it as a resource, and doesn't link to
 * it.
 */
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

/** The name of this machine, and its subdomains (RFC 6761, section 6.3). */
const LOCALHOST = /^(?:[\w-]+\.)*localhost$/i;
const LOOPBACK = /^127(?:\.(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)){3}$/;

/**
 * The rule without `authorize`: requests from this machine, and nobody in
 * production. The environment is read for each request, because it may be
 * loaded late.
 */
export const byDefault: Authorize = (request, info) =>
  !isProduction() && isLocalRequest(request, info);

/** Whether a rule allows a request. Rejects if the rule does. */
export async function allows(
  rule: Authorize,
  ...request: Parameters<Authorize>
): Promise<boolean> {
  const answer: unknown = await rule(...request);
  if (typeof answer === "boolean") return answer;
  if (answer === undefined || answer === null) return false;
  const received = show(answer);
  throw new TypeError(
    `Cannot check access to traces: authorize must return a boolean, received ${received}`,
  );
}

/** Returns the response to a refused request, or `undefined` if it is allowed. */
export async function refuse(
  rule: Authorize,
  ...request: Parameters<Authorize>
): Promise<Response | undefined> {
  checkRequest(request[0]);
  if (await allows(rule, ...request)) return undefined;
  return errorResponse(403, "FORBIDDEN", reasonOf(rule, ...request));
}

function reasonOf(
  rule: Authorize,
  request: Request,
  info: ConnectionInfo | undefined,
  access: TraceAccess,
): string {
  if (rule === byDefault && isProduction()) {
    const action = access === "read" ? "show traces" : "take spans";
    return `Cannot ${action}: authorize must be given in production, as in tracePlugin(tracer, { authorize }). Without permission to read DENO_ENV and NODE_ENV, this counts as production`;
  }
  const isOwnRule = rule !== byDefault && rule !== isLocalRequest;
  // In production, the failed condition would help strangers to avoid it.
  if (isOwnRule || isProduction() && !isDevCommand()) {
    const action = access === "read" ? "read traces" : "post spans";
    return `This request may not ${action}: authorize refused it`;
  }
  const problem = problemOf(request, info) ?? "authorize refused this request";
  return `Traces are only shown to this machine, and ${problem}. To let others in, pass authorize, as in tracePlugin(tracer, { authorize })`;
}

/** Returns the rule of a handler, with a warning if it is the default. */
export function ruleOf(authorize: Authorize | undefined): Authorize {
  if (authorize === undefined) warnOnce();
  return authorize ?? byDefault;
}

let isWarned = false;

/**
 * Warns once per process that `authorize` isn't set. The dev command controls
 * access itself, so it needs no warning.
 */
export function warnOnce(): void {
  if (isWarned || isDevCommand()) return;
  isWarned = true;
  console.warn(
    isProduction()
      ? "Traces: the viewer, its API and its WebSocket answer 403, because authorize must be given in production. Pass it, as in tracePlugin(tracer, { authorize }). To record traces without a viewer, use traceMiddleware(tracer)."
      : "Traces: the viewer, its API and its WebSocket are open to all requests from this machine, because authorize isn't given. A reverse proxy on this machine can let everyone in. Pass authorize, as in tracePlugin(tracer, { authorize }). In production, nobody gets in without it.",
  );
}

/**
 * Answers the requests of one path below `/__app/traces` that may read traces. The
 * dev command adds some.
 */
export type ExtraRoute = (
  request: Request,
  info: ConnectionInfo | undefined,
) => Response | Promise<Response>;

const routes = new WeakMap<Tracer, Map<string, ExtraRoute>>();

/**
 * Returns the routes that the plugin of a tracer has in addition, by their path
 * below `/__app/traces`, such as `/panel.js`.
 */
export function routesOf(tracer: Tracer): Map<string, ExtraRoute> {
  const added = routes.get(tracer) ?? new Map<string, ExtraRoute>();
  routes.set(tracer, added);
  return added;
}

/** Answers a request by a route, or refuses it. */
export async function answer(
  route: ExtraRoute,
  rule: Authorize,
  request: Request,
  info: ConnectionInfo | undefined,
): Promise<Response> {
  return await refuse(rule, request, info, "read") ??
    await route(request, info);
}
