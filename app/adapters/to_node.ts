import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { withMethods } from "../../core/check/rules.ts";
import type { ConnectionInfo, NetAddress } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import { printableError } from "../../core/redact/printable.ts";
import { checkFetcher, type Fetcher } from "../fetcher.ts";
import { answerUpgrade } from "./host_socket.ts";
import { withoutBody } from "./mount.ts";
import {
  isWebSocketRequest,
  nodeRequest,
  type NodeSocketServer,
  sendResponse,
  upgradeNode,
} from "./node_upgrade.ts";

/** Options of an app on Node. */
export interface NodeHostOptions {
  /**
   * The WebSocket server: `new WebSocketServer({ noServer: true })` of the
   * package `ws`. Default: none. WebSocket requests then get 501.
   */
  readonly webSocketServer?: object;
}

const NODE_OPTIONS: OptionRules<NodeHostOptions> = {
  webSocketServer: withMethods(
    "a WebSocketServer of the package ws",
    "handleUpgrade",
    "on",
    "off",
  ),
};

/** The handlers that a server of Node needs. */
export interface NodeHost {
  /** Answers a request. Pass it to a package such as `@hono/node-server`. */
  fetch(
    request: Request,
    /** Node's `IncomingMessage` and `ServerResponse`. */
    bindings: { readonly incoming: unknown; readonly outgoing?: unknown },
  ): Promise<Response>;
  /**
   * Handles the server's event `upgrade`. Requests for other protocols, such as
   * HTTP/2, get 400, because their body isn't available. To answer them
   * normally, set the server's option `shouldUpgradeCallback` (Node 22.21 and
   * 24.9 or later).
   */
  upgrade(incoming: unknown, connection: unknown, head: Uint8Array): void;
}

/** The connection of a request. Hono's helpers read `incoming` and `outgoing`. */
class NodeInfo implements ConnectionInfo {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse | undefined;
  #completed: Promise<void> | undefined;

  constructor({ incoming, outgoing }: Parameters<NodeHost["fetch"]>[1]) {
    this.incoming = incoming as IncomingMessage;
    this.outgoing = outgoing as ServerResponse | undefined;
  }

  get remoteAddr(): NetAddress | undefined {
    const { remoteAddress, remotePort } = this.incoming.socket;
    return remoteAddress === undefined ? undefined : {
      transport: "tcp",
      hostname: remoteAddress,
      port: remotePort ?? 0,
    };
  }

  get completed(): Promise<void> | undefined {
    return this.outgoing && (this.#completed ??= completionOf(this.outgoing));
  }
}

function completionOf(outgoing: ServerResponse): Promise<void> {
  const completed = new Promise<void>((resolve, reject) => {
    const settle = () =>
      outgoing.writableFinished
        ? resolve()
        : reject(new Error("the connection was closed before the end"));
    if (outgoing.closed) settle();
    else outgoing.once("close", settle);
  });
  // Callers may ignore the failure.
  completed.catch(() => {});
  return completed;
}

/**
 * Adapts an app to a server of Node: an app of the kit, of Hono, or the result
 * of `withPlugins()`. The app learns the client's address. With the package
 * `ws`, WebSockets work too.
 *
 * ```ts ignore
 * import { serve } from "@hono/node-server";
 * import { WebSocketServer } from "ws";
 *
 * const webSocketServer = new WebSocketServer({ noServer: true });
 * const { fetch, upgrade } = toNode(app, { webSocketServer });
 * const server = serve({
 *   fetch,
 *   port: 8000,
 *   serverOptions: {
 *     // A client that offers another protocol is answered in HTTP.
 *     shouldUpgradeCallback: ({ headers }) =>
 *       headers.upgrade?.toLowerCase() === "websocket",
 *   },
 * });
 * server.on("upgrade", upgrade);
 * ```
 *
 * When the server shuts down, call the app's `close()` before `server.close()`. It waits
 * for pending requests.
 *
 * @param fetcher The app.
 * @param options The WebSocket server.
 * @throws {TypeError} If the app has no `fetch`, or an option is invalid.
 *
 * @example
 * ```ts
 * import { createApp, toNode } from "@quartet/kit/app";
 * import { createServer } from "node:http";
 *
 * const app = createApp();
 * app.route({
 *   path: "/",
 *   handler: (_request, { info }) => new Response(info?.remoteAddr?.transport),
 * });
 * const { fetch: answer } = toNode(app);
 *
 * // What a package such as @hono/node-server does, in short.
 * const server = createServer(async (incoming, outgoing) => {
 *   const url = new URL(incoming.url!, "http://localhost");
 *   const response = await answer(new Request(url), { incoming, outgoing });
 *   outgoing.end(await response.text());
 * });
 * await new Promise<void>((resolve) => server.listen(0, resolve));
 * const { port } = server.address() as { port: number };
 * const response = await fetch(`http://127.0.0.1:${port}/`);
 * console.assert(await response.text() === "tcp");
 * await new Promise((resolve) => server.close(resolve));
 * ```
 */
export function toNode(
  fetcher: Fetcher,
  options: NodeHostOptions = {},
): NodeHost {
  return createNodeHost(
    fetcher,
    options,
    "pass webSocketServer to toNode(): new WebSocketServer({ noServer: true }) of the package ws",
  );
}

/**
 * Does the same as {@linkcode toNode}.
 *
 * @param remedy How to get sockets, for the error without a WebSocket server.
 */
export function createNodeHost(
  fetcher: Fetcher,
  options: NodeHostOptions,
  remedy: string,
): NodeHost {
  checkFetcher(fetcher, "serve on Node");
  checkOptions(options, NODE_OPTIONS, "serve on Node");
  const server = options.webSocketServer as NodeSocketServer | undefined;
  let isReported = false;

  async function open(
    incoming: IncomingMessage,
    connection: Duplex,
    head: Uint8Array,
  ): Promise<void> {
    if (!isWebSocketRequest(incoming)) {
      const message =
        "The only upgrade is by GET to a WebSocket; ask again without the header Upgrade";
      const refusal = errorResponse(400, "BAD_REQUEST", message);
      return sendResponse(connection, refusal);
    }
    const request = nodeRequest(incoming, connection);
    if (request === undefined) {
      return sendResponse(connection, new Response(null, { status: 400 }));
    }
    if (server === undefined) {
      if (!isReported) {
        isReported = true;
        console.error(`Cannot open a WebSocket: ${remedy}`);
      }
      return sendResponse(connection, new Response(null, { status: 501 }));
    }
    const info = new NodeInfo({ incoming });
    const { response, socket } = await answerUpgrade(fetcher, request, info);
    if (socket === undefined) return sendResponse(connection, response);
    upgradeNode(server, incoming, connection, head, response.headers, socket);
  }

  return {
    async fetch(request, bindings) {
      if (typeof request?.headers?.get !== "function") {
        return refuseNodeRequest(bindings);
      }
      const response = await fetcher.fetch(request, new NodeInfo(bindings));
      return request.method === "HEAD" ? withoutBody(response) : response;
    },
    upgrade(incoming, connection, head) {
      const duplex = connection as Duplex;
      // Otherwise an error of the connection would end the process.
      duplex.on("error", () => duplex.destroy());
      open(incoming as IncomingMessage, duplex, head).catch((error) => {
        console.error(
          "A WebSocket could not be opened:",
          printableError(error),
        );
        duplex.destroy();
      });
    },
  };
}

/**
 * Answers a request of `node:http` that wasn't converted. `node:http` ignores the
 * returned promise, so throwing would end the process.
 */
function refuseNodeRequest(second: unknown): Response {
  console.error(
    "Cannot answer: the request must be a Web Request, received another object; with node:http, use createServer(getRequestListener(toNode(app).fetch)) of @hono/node-server",
  );
  const outgoing = second as Partial<ServerResponse> | undefined;
  if (typeof outgoing?.writeHead === "function") {
    outgoing.writeHead(500).end?.();
  }
  return new Response(null, { status: 500 });
}
