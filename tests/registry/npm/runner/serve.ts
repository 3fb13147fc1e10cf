/**
 * A server of Node or Bun that replaces `Deno.serve` and the kit's `serve()`.
 *
 * @module
 */

import { toBun, toNode } from "@quartet/kit/app";
import type { ConnectionInfo, Fetcher, NetAddress } from "@quartet/kit/app";
import type { Server as HttpServer } from "node:http";
import process from "node:process";

/** A running server. */
export interface Listening extends AsyncDisposable {
  readonly addr: NetAddress;
  readonly finished: Promise<void>;
  shutdown(): Promise<void>;
  ref(): void;
  unref(): void;
}

type Handler = (
  request: Request,
  info: ConnectionInfo,
) => Response | Promise<Response>;

interface Options {
  readonly port?: number;
  readonly signal?: AbortSignal;
  readonly onListen?: (address: NetAddress) => void;
  readonly handler?: Handler;
}

/** The parts of `Deno.serve` that tests use. It listens on localhost only. */
export function serve(
  ...args: [handler: Handler] | [options: Options, handler?: Handler]
): Listening {
  const [options, handler] = typeof args[0] === "function"
    ? [{}, args[0]]
    : [args[0], args[1] ?? args[0].handler];
  const { port = 8000, signal, onListen } = options;
  const listening = listen({ fetch: handler as Fetcher["fetch"] }, port);
  signal?.addEventListener("abort", listening.shutdown);
  onListen?.(listening.addr);
  return listening;
}

/** Serves an app on a port. */
export const listen: (app: Fetcher, port: number) => Listening =
  "Bun" in globalThis ? listenWithBun() : await listenWithNode();

interface BunServer {
  readonly port: number;
  stop(closeActiveConnections?: boolean): Promise<void>;
  ref(): void;
  unref(): void;
}

function listenWithBun(): typeof listen {
  const { Bun } = globalThis as unknown as {
    Bun: { serve(options: unknown): BunServer };
  };
  return (app, port) => {
    const server = Bun.serve({ hostname: "127.0.0.1", port, ...toBun(app) });
    return listening(server.port, server, () => server.stop(true));
  };
}

/** A listening socket that is created synchronously, unlike by `listen()`. */
interface Handle {
  bind(host: string, port: number): number;
}

async function listenWithNode(): Promise<typeof listen> {
  const { createAdaptorServer } = await import("@hono/node-server");
  const { WebSocketServer } = await import("ws");
  const { TCP, constants } = (process as unknown as {
    binding(name: string): {
      TCP: new (kind: number) => Handle;
      constants: { SERVER: number };
    };
  }).binding("tcp_wrap");
  return (app, port) => {
    const webSocketServer = new WebSocketServer({ noServer: true });
    const { fetch, upgrade } = toNode(app, { webSocketServer });
    // Tests create standard objects, even if a package has replaced the
    // globals.
    const server = createAdaptorServer({
      fetch,
      overrideGlobalObjects: false,
    }) as HttpServer;
    server.on("upgrade", upgrade);
    const handle = new TCP(constants.SERVER);
    const failure = handle.bind("127.0.0.1", port);
    if (failure !== 0) throw new Error(`Cannot listen: ${failure}`);
    server.listen(handle);
    const { port: taken } = server.address() as { port: number };
    return listening(taken, server, () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      for (const client of webSocketServer.clients) client.terminate();
      server.closeAllConnections();
      return closed;
    });
  };
}

/** The servers that are listening. */
const servers = new Set<Listening>();

/**
 * Closes the servers of a test that is skipped halfway. Otherwise its clients
 * would connect again during the next tests.
 */
export function closeServers(): void {
  for (const server of servers) server.shutdown().catch(() => {});
}

function listening(
  port: number,
  server: { ref(): void; unref(): void },
  stop: () => Promise<void>,
): Listening {
  const { promise: finished, resolve } = Promise.withResolvers<void>();
  const shutdown = async () => {
    servers.delete(result);
    await stop();
    resolve();
  };
  const result: Listening = {
    addr: { transport: "tcp", hostname: "127.0.0.1", port },
    finished,
    shutdown,
    ref: () => server.ref(),
    unref: () => server.unref(),
    [Symbol.asyncDispose]: shutdown,
  };
  servers.add(result);
  return result;
}
