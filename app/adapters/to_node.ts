import type { ConnectionInfo, NetAddress } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import { checkFetcher } from "../fetcher.ts";
import type { Fetcher } from "../fetcher.ts";
import { checkOptions } from "../../core/check/check_options.ts";
import type { OptionRules } from "../../core/check/check_options.ts";
import { printableError } from "../../core/redact/printable.ts";
import { answerOf, offerSocket } from "./host_socket.ts";
import type {
  NodeBindings,
  NodeDuplex,
  NodeIncoming,
  NodeOutgoing,
  NodeSocketServer,
} from "./node.ts";
import {
  asksNodeForWebSocket,
  nodeRequest,
  sendResponse,
  upgradeNode,
} from "./node_upgrade.ts";

/** Settings of an app on Node. */
export interface NodeHostOptions {
  /**
   * Opens sockets: `new WebSocketServer({ noServer: true })` of the package
   * `ws`. Default: sockets are refused, by a 501.
   */
  readonly webSocketServer?: NodeSocketServer;
}

const NODE_OPTIONS: OptionRules<NodeHostOptions> = { webSocketServer: true };

/** What a server of Node needs to serve an app. */
export interface NodeHost {
  /** Answers a request; give it to what makes a `Request` out of Node's. */
  fetch(request: Request, bindings: NodeBindings): Promise<Response>;
  /**
   * Listens to the server's event `upgrade`. What asks for something else than
   * a WebSocket, such as HTTP/2, is refused by a 400: its body is out of reach.
   * With `shouldUpgradeCallback`, an option of servers from Node 22.21 and 24.9
   * on, it does not get here but is answered as any other request.
   */
  upgrade(incoming: NodeIncoming, socket: NodeDuplex, head: Uint8Array): void;
}

/** What is known of a connection to a server of Node. */
class NodeInfo implements ConnectionInfo {
  /** Under these names Hono's helpers look for them. */
  readonly incoming: NodeIncoming;
  readonly outgoing: NodeOutgoing | undefined;
  #completed: Promise<void> | undefined;

  constructor(incoming: NodeIncoming, outgoing?: NodeOutgoing) {
    this.incoming = incoming;
    this.outgoing = outgoing;
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

function completionOf(outgoing: NodeOutgoing): Promise<void> {
  const completed = new Promise<void>((resolve, reject) => {
    const settle = () =>
      outgoing.writableFinished
        ? resolve()
        : reject(new Error("The connection was closed before the end"));
    if (outgoing.closed) settle();
    else outgoing.once("close", settle);
  });
  // Who asks may only want to know when, and must not end the process.
  completed.catch(() => {});
  return completed;
}

/**
 * Adapts an app to a server of Node: one of the kit, one of Hono with the kit
 * in it, or what `withPlugins()` gives. The app gets to know who has connected,
 * and with the package `ws` its sockets work, those of RPC as well as those of
 * the traces.
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
 * When the server shuts down, call the app's `close()` before `server.close()`.
 *
 * @param fetcher The app.
 * @param options What opens sockets.
 * @throws {TypeError} If the app has no `fetch`, or an option is unknown.
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
  checkFetcher(fetcher, "serve on Node");
  checkOptions(options, NODE_OPTIONS, "serve on Node");
  const { webSocketServer } = options;
  let isTold = false;

  async function open(
    incoming: NodeIncoming,
    duplex: NodeDuplex,
    head: Uint8Array,
  ): Promise<void> {
    if (!asksNodeForWebSocket(incoming)) {
      const message =
        "The only upgrade is by GET to a WebSocket; ask again without the header Upgrade";
      return sendResponse(duplex, errorResponse(400, "BAD_REQUEST", message));
    }
    const request = nodeRequest(incoming, duplex);
    if (request === undefined) {
      return sendResponse(duplex, new Response(null, { status: 400 }));
    }
    if (webSocketServer === undefined) {
      if (!isTold) {
        isTold = true;
        console.error(
          "Cannot open a WebSocket: toNode() needs the option webSocketServer",
        );
      }
      return sendResponse(duplex, new Response(null, { status: 501 }));
    }
    const taken = offerSocket(request);
    const info = new NodeInfo(incoming);
    const response = await answerOf(fetcher, request, info, taken);
    const socket = taken();
    if (socket !== undefined && response.status === 101) {
      const { headers } = response;
      upgradeNode(webSocketServer, incoming, duplex, head, headers, socket);
    } else {
      socket?.closed(1006, "");
      await sendResponse(duplex, response);
    }
  }

  return {
    fetch: async (request, { incoming, outgoing }) =>
      await fetcher.fetch(request, new NodeInfo(incoming, outgoing)),
    upgrade(incoming, duplex, head) {
      // What is open ends with the process; what is not must not end it.
      duplex.on("error", () => duplex.destroy());
      open(incoming, duplex, head).catch((error) => {
        console.error(
          "A WebSocket could not be opened:",
          printableError(error),
        );
        duplex.destroy();
      });
    },
  };
}
