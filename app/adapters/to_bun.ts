import type { ConnectionInfo, NetAddress } from "../../core/context.ts";
import { checkFetcher } from "../fetcher.ts";
import type { Fetcher } from "../fetcher.ts";
import { answerOf, offerSocket } from "./host_socket.ts";
import type { HostSocket } from "./host_socket.ts";

/** What is used of Bun's server. */
export interface BunServer {
  /** The other end of a request's connection. */
  requestIP(
    request: Request,
  ): { readonly address: string; readonly port: number } | null;
  /** Makes a socket of a request. */
  upgrade(
    request: Request,
    options: { data: BunSocketData; headers?: Headers },
  ): boolean;
}

/** What belongs to one of Bun's sockets; it is the kit's own. */
export type BunSocketData = object;

/** What is used of one of Bun's sockets. */
export interface BunSocket {
  /** What `upgrade` was given. */
  readonly data: BunSocketData;
  /** Sends a message. */
  send(message: string | Uint8Array<ArrayBuffer>): unknown;
  /** Closes the connection. */
  close(code?: number, reason?: string): void;
  /** Bytes that the network has not taken yet. */
  getBufferedAmount(): number;
}

/** The options that `Bun.serve` needs to serve an app. */
export interface BunHost {
  /** Answers a request, unless it has become a socket. */
  fetch(request: Request, server: BunServer): Promise<Response | undefined>;
  /** What happens on sockets. Add Bun's own settings if you need any. */
  websocket: {
    /** The type of the sockets' data, as Bun asks for it. */
    data: BunSocketData;
    /** Bytes above which Bun loses messages; out of the way, 1 GiB. */
    backpressureLimit: number;
    /** A connection is open. */
    open(ws: BunSocket): void;
    /** A message has come in. */
    message(ws: BunSocket, message: string | Uint8Array): void;
    /** A connection is gone. */
    close(ws: BunSocket, code: number, reason: string): void;
  };
}

/**
 * Bun drops what is sent above 16 MiB of unsent bytes, without a word. The kit
 * stops sending by itself long before, and tells of what it leaves out.
 */
const BACKPRESSURE_LIMIT = 1 << 30;

/** What is known of a connection to Bun's server. */
class BunInfo implements ConnectionInfo {
  /** Under this name Hono's helpers look for it. */
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

/**
 * Adapts an app to `Bun.serve`, whose options it makes: one of the kit, one of
 * Hono with the kit in it, or what `withPlugins()` gives. The app gets to know
 * who has connected, and its sockets work, those of RPC as well as those of the
 * traces.
 *
 * ```ts ignore
 * const server = Bun.serve({ port: 8000, ...toBun(app) });
 * ```
 *
 * When the server shuts down, call the app's `close()` before `server.stop()`.
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
    async fetch(request, server) {
      const info = new BunInfo(server, request);
      if (!request.headers.has("upgrade")) {
        return await fetcher.fetch(request, info);
      }
      const taken = offerSocket(request);
      const response = await answerOf(fetcher, request, info, taken);
      const data = taken();
      if (data === undefined) return response;
      if (response.status === 101) {
        const { headers } = response;
        if (server.upgrade(request, { data, headers })) return undefined;
      }
      data.closed(1006, "");
      return response.status === 101
        ? new Response(null, { status: 400 })
        : response;
    },
    websocket: {
      data: {},
      backpressureLimit: BACKPRESSURE_LIMIT,
      open: (ws) =>
        socketOf(ws).opened({
          get bufferedAmount() {
            return ws.getBufferedAmount();
          },
          send: (message) => void ws.send(message),
          close: (code, reason) => ws.close(code, reason),
        }),
      message: (ws, message) => socketOf(ws).received(message),
      close: (ws, code, reason) => socketOf(ws).closed(code, reason),
    },
  };
}

function socketOf({ data }: BunSocket): HostSocket {
  return data as HostSocket;
}
