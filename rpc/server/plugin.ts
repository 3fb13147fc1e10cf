import { limitClose, WorkCounter } from "../../core/closing.ts";
import { aBoolean, aLimit, required } from "../../core/check/rules.ts";
import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import type { Context } from "../../core/context.ts";
import {
  isCrossOrigin,
  readHost,
  readOrigins,
  refuseHost,
} from "../../core/http/origin.ts";
import { acceptDirect, refuseUncalled } from "../../core/middleware.ts";
import { pathOf } from "../../core/http/message.ts";
import type { Plugin } from "../../core/plugin.ts";
import { yieldToEventLoop } from "../../core/promises.ts";
import { runOutside } from "../../core/request_scope.ts";
import type { Upgrader } from "../../core/socket/websocket.ts";
import { errors, RPCError } from "../error.ts";
import {
  createState,
  Stopped,
  type WSConnectionData,
} from "../socket/connection.ts";
import { abortAll, type RouterWebSocketHandler } from "../socket/websocket.ts";
import { anEndpoint, aRouterWith, DEFAULT_ENDPOINT } from "./endpoints.ts";
import { respondError } from "./respond.ts";
import { httpHandlerOf, type Router } from "./router.ts";
import { recordEndpoint, recordRefusal } from "./tracing.ts";

/** Options of {@linkcode rpcPlugin}. */
export interface RPCPluginOptions {
  /** The procedures. */
  readonly router: Pick<Router, "handler" | "websocket">;
  /** The path of calls and sockets. Default `/api/rpc`. */
  readonly endpoint?: string;
  /**
   * Other origins whose pages may open sockets, such as `https://app.example`.
   * The server's own origin always may. For unsafe requests to guarded routes,
   * see `trustedOrigins` of the auth plugin.
   */
  readonly trustedOrigins?: readonly string[];
  /**
   * Maximum open sockets per address. An IPv6 network of 64 bits counts as one
   * address. Default: 100 for public addresses, and `Infinity` for private
   * ones, which often belong to proxies.
   */
  readonly maxSocketsPerAddress?: number;
  /**
   * Whether subscriptions that asked for the user end with the user's session:
   * by sign-out, revocation, expiry or a lost role. They get `UNAUTHORIZED`.
   * With the auth strategy `jwt`, only expiry ends them. Default `true`.
   */
  readonly endWithSession?: boolean;
}

const OPTIONS: OptionRules<RPCPluginOptions> = {
  router: required(aRouterWith("handler", "websocket")),
  endpoint: anEndpoint,
  // readOrigins() checks it.
  trustedOrigins: true,
  maxSocketsPerAddress: aLimit,
  endWithSession: aBoolean,
};

/** Servers without subscriptions don't need it. */
const loadSockets = () =>
  runOutside(() => import("../../core/socket/websocket.ts"));

/** An upgrader of requests to sockets, such as Bun's server. */
export interface UpgradeServer {
  /** Returns whether the upgrade was made. */
  upgrade(request: Request, options: { data: WSConnectionData }): boolean;
}

/** The plugin of {@linkcode rpcPlugin}. */
export interface RPCPlugin extends Plugin {
  /**
   * Answers calls and sockets at the endpoint, for servers on which this plugin
   * isn't installed. Call `close` when such a server shuts down.
   *
   * @param request The request.
   * @param ctx The `ctx` of handlers.
   * @returns The response, or `undefined` for other paths. A malformed `Host` gets
   * a 400, because it could choose the path.
   * @throws {TypeError} If `request` isn't a `Request`, such as a framework's
   * context.
   */
  handle(
    request: Request,
    // deno-lint-ignore no-explicit-any -- applications type their own context
    ctx?: any,
  ): Response | Promise<Response> | undefined;
  /**
   * Upgrades a request at the endpoint to a WebSocket, for servers on which
   * this plugin isn't installed.
   *
   * @param server The server's upgrader.
   * @param request The request.
   * @param ctx The `ctx` of handlers.
   * @returns Whether the upgrade was made.
   */
  upgradeToWebSocket(
    server: UpgradeServer,
    request: Request,
    // deno-lint-ignore no-explicit-any -- applications type their own context
    ctx: any,
  ): boolean;
  /** Returns the WebSocket handler for such a server. */
  getWebSocketConfig(): RouterWebSocketHandler;
}

/**
 * Serves a router: calls and WebSockets at one endpoint. Handlers get the
 * request's `Context` as `ctx`.
 *
 * `endpoint/<path>` names a procedure by URL. Then the body of a POST is the
 * input. The OpenAPI document describes these URLs.
 *
 * An app may have several, with different endpoints that aren't below each
 * other. The plugin's name is `rpc`, or `rpc /path` at another endpoint.
 *
 * @param options The router and its endpoint.
 * @throws {TypeError} If an option is invalid or unknown.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 * import { createRouter, procedure, rpcPlugin } from "@quartet/kit/rpc";
 *
 * const router = createRouter({ ping: procedure.query(() => "pong") });
 * const app = createApp({ plugins: [rpcPlugin({ router })] });
 *
 * const url = "http://localhost/api/rpc?path=ping";
 * const response = await app.fetch(new Request(url));
 * console.assert((await response.json()).data === "pong");
 * await app.close();
 * ```
 */
export function rpcPlugin(options: RPCPluginOptions): RPCPlugin {
  const operation = "create RPC plugin";
  if (Object.hasOwn(Object(options), "_def")) {
    throw new TypeError(
      `Cannot ${operation}: options must be an object with the router, as in rpcPlugin({ router }), received the router itself`,
    );
  }
  checkOptions(options, OPTIONS, operation);
  const { router, endpoint = DEFAULT_ENDPOINT, trustedOrigins = [] } = options;
  const { maxSocketsPerAddress, endWithSession = true } = options;
  const respond = httpHandlerOf(router);
  const allowed = readOrigins(trustedOrigins, operation, "trustedOrigins");
  const isForeign = (request: Request) => isCrossOrigin(request, allowed);
  const connections = new Set<WSConnectionData>();
  /** The generators of `connections`, also of closed ones. */
  const generators = new WorkCounter();
  let isClosing = false;
  const { websocket } = router;
  let upgrader: Promise<Upgrader<WSConnectionData>> | undefined;

  async function openUpgrader(): Promise<Upgrader<WSConnectionData>> {
    const { createUpgrader } = await loadSockets();
    return createUpgrader<WSConnectionData>({
      ...websocket,
      open(ws) {
        connections.add(ws.data);
        websocket.open?.(ws);
      },
      close(ws, code, reason) {
        connections.delete(ws.data);
        websocket.close?.(ws, code, reason);
      },
    }, maxSocketsPerAddress === undefined ? {} : { maxSocketsPerAddress });
  }

  function upgradeToWebSocket(
    server: UpgradeServer,
    request: Request,
    ctx: unknown,
    work?: WorkCounter,
  ): boolean {
    if (
      !isUpgrade(request) || readHost(request) === undefined ||
      !isEndpoint(request) || isForeign(request)
    ) return false;
    // After the upgrade neither headers nor the signal can be used.
    const { url, headers } = request;
    const originalRequest = new Request(url, { headers: new Headers(headers) });
    const data: WSConnectionData = {
      subscriptions: new Map(),
      ctx: hasRequest(ctx) ? ctx.withRequest(originalRequest) : ctx,
      originalRequest,
    };
    createState(data, request, endWithSession, work);
    return server.upgrade(request, { data });
  }

  function isEndpoint(request: Request): boolean {
    const path = pathOf(request.url);
    return path === endpoint || path === `${endpoint}/`;
  }

  function handle(
    request: Request,
    ctx: unknown,
  ): Response | Promise<Response> | undefined {
    const path = pathOf(request.url);
    if (!path.startsWith(endpoint)) return undefined;
    const rest = path.slice(endpoint.length);
    if (rest !== "" && rest[0] !== "/") return undefined;
    recordEndpoint(endpoint);
    // A client's httpEndpoint may end in a slash.
    if (rest.length > 1) return respond(request, ctx, decode(rest.slice(1)));
    return isUpgrade(request)
      ? openSocket(request, ctx)
      : respond(request, ctx);
  }

  async function openSocket(request: Request, ctx: unknown): Promise<Response> {
    if (isClosing) return refuse(shuttingDown());
    const sockets = await (upgrader ??= openUpgrader());
    const isOpen = upgradeToWebSocket(sockets, request, ctx, generators);
    const response = sockets.response(request);
    if (isOpen) return response!;
    const refusal = isForeign(request)
      ? errors.forbidden(
        "Pages of other origins can't open sockets unless trustedOrigins of rpcPlugin() lists them",
      )
      : response === undefined
      ? errors.badRequest("The WebSocket handshake is malformed")
      : new RPCError("RATE_LIMITED", TOO_MANY_SOCKETS, response.status);
    return refuse(refusal);
  }

  function refuse(refusal: RPCError): Response {
    recordRefusal(refusal);
    return respondError(refusal, "GET");
  }

  return {
    name: endpoint === DEFAULT_ENDPOINT ? "rpc" : `rpc ${endpoint}`,
    middleware: acceptDirect((request, context, next) =>
      handle(request, context) ?? next()
    ),
    handle(request, ctx) {
      // Otherwise `Host: x/api/rpc?` would choose the endpoint.
      if (readHost(request) === undefined) return refuseHost();
      return handle(request, ctx);
    },
    async close() {
      isClosing = true;
      const reason = new Stopped("shutdown", "The server shuts down");
      const opened = await upgrader?.catch(() => undefined);
      for (const data of connections) abortAll(data, reason);
      const closed = opened?.close();
      // They may still use what the other plugins close next.
      const isLate = await limitClose((deadline) =>
        deadline.limits(generators.idle())
      );
      // A deadline that has passed before comes first.
      if (isLate) await yieldToEventLoop();
      if (isLate && generators.count > 0) {
        console.error(
          "Subscriptions that still run after the shutdown: %d; pass their signal on to whatever they wait for",
          generators.count,
        );
      }
      await closed;
      // Another app may use the plugin again.
      isClosing = false;
    },
    upgradeToWebSocket: (server, request, ctx) =>
      upgradeToWebSocket(server, request, ctx),
    getWebSocketConfig: () => websocket,
  };
}

function isUpgrade({ method, headers }: Request): boolean {
  return method === "GET" &&
    headers.get("upgrade")?.toLowerCase() === "websocket";
}

const TOO_MANY_SOCKETS = "This address has too many sockets open";

function shuttingDown(): RPCError {
  return new RPCError("UNAVAILABLE", "The server is shutting down", 503);
}

function hasRequest(ctx: unknown): ctx is Context {
  return typeof (ctx as Partial<Context> | null | undefined)?.withRequest ===
    "function";
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

refuseUncalled(rpcPlugin);
