import type { ConnectionInfo, NetAddress } from "../../core/context.ts";
import { checkFetcher, type Fetcher } from "../fetcher.ts";
import {
  answerUpgrade,
  type HostSocket,
  type OpenSocket,
} from "./host_socket.ts";

/** The part of Bun's server that is used. */
interface BunServer {
  requestIP(
    request: Request,
  ): { readonly address: string; readonly port: number } | null;
  upgrade(
    request: Request,
    options: { readonly data: HostSocket; readonly headers: Headers },
  ): boolean;
}

/** The part of Bun's sockets that is used. */
type BunSocket = OpenSocket & { readonly data: HostSocket };

/** The options of `Bun.serve` that serve an app. */
export interface BunHost {
  /**
   * Answers a request, unless it has become a WebSocket. Takes Bun's server, or
   * the connection that a host of the kit passes on, as the dev command does.
   */
  fetch(request: Request, server: unknown): Promise<Response | undefined>;
  /** The events of WebSockets. You can add settings of Bun. */
  websocket: {
    /** The type of a socket's `data`, which the kit sets. */
    data: object;
    /** Unsent bytes above which Bun drops messages: 1 GiB. */
    backpressureLimit: number;
    /** Called when a connection is open. */
    open(ws: unknown): void;
    /** Called with a message. */
    message(ws: unknown, message: string | Uint8Array): void;
    /** Called when a connection has closed. */
    close(ws: unknown, code: number, reason: string): void;
  };
}

/**
 * Bun silently drops messages above its default of 16 MiB of unsent bytes. The
 * kit stops sending long before that, and reports what it leaves out.
 */
const BACKPRESSURE_LIMIT = 1 << 30;

/** The connection of a request. Hono's helpers read `server`. */
class BunInfo implements ConnectionInfo {
  readonly server: BunServer;
  readonly #request: Request;

  constructor(server: BunServer, request: Request) {
    this.server = server;
    this.#request = request;
  }

  get remoteAddr(): NetAddress | undefined {
    const ip = this.server.requestIP(this.#request);
    return ip === null
      ? undefined
      : { transport: "tcp", hostname: ip.address, port: ip.port };
  }
}

function isBunServer(value: unknown): value is BunServer {
  return typeof Object(value).requestIP === "function";
}

/**
 * Creates the options of `Bun.serve` for an app: an app of the kit, of Hono, or
 * the result of `withPlugins()`. The app learns the client's address, and
 * WebSockets work.
 *
 * ```ts ignore
 * const server = Bun.serve({ port: 8000, ...toBun(app) });
 * ```
 *
 * When the server shuts down, call the app's `close()` before `server.stop()`. It waits
 * for pending requests.
 *
 * @param fetcher The app.
 * @throws {TypeError} If it has no `fetch`.
 *
 * @example
 * ```ts
 * import { createApp, toBun } from "@quartet/kit/app";
 *
 * const app = createApp();
 * app.route({
 *   path: "/",
 *   handler: (_request, { info }) => Response.json(info?.remoteAddr),
 * });
 * const { fetch } = toBun(app);
 *
 * // What Bun does.
 * const server = {
 *   requestIP: () => ({ address: "127.0.0.1", port: 50_000 }),
 *   upgrade: () => false,
 * };
 * const response = await fetch(new Request("http://localhost/"), server);
 * console.assert((await response!.json()).hostname === "127.0.0.1");
 * ```
 */
export function toBun(fetcher: Fetcher): BunHost {
  checkFetcher(fetcher, "serve on Bun");
  return {
    async fetch(request, bunServer) {
      if (!isBunServer(bunServer)) {
        // Below a host of the kit, such as the dev command.
        const info = bunServer as ConnectionInfo | undefined;
        return await fetcher.fetch(request, info);
      }
      const info = new BunInfo(bunServer, request);
      if (!request.headers.has("upgrade")) {
        return await fetcher.fetch(request, info);
      }
      const { response, socket } = await answerUpgrade(fetcher, request, info);
      if (socket === undefined) return response;
      const { headers } = response;
      if (bunServer.upgrade(request, { data: socket, headers })) {
        return undefined;
      }
      socket.closed(1006, "");
      return new Response(null, { status: 400 });
    },
    websocket: {
      data: {},
      backpressureLimit: BACKPRESSURE_LIMIT,
      open: (ws) => (ws as BunSocket).data.opened(ws as BunSocket),
      message: (ws, message) => (ws as BunSocket).data.received(message),
      close: (ws, code, reason) => (ws as BunSocket).data.closed(code, reason),
    },
  };
}
