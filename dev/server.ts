import type { Fetcher } from "../app/fetcher.ts";
import { serve, type Server } from "../app/serve.ts";

/**
 * How long an open stream may delay the end, in seconds. Deno's `--watch` waits
 * for half a second, and the traces are written after this time.
 */
export const SHUTDOWN_TIMEOUT = 0.3;

/** The app, mounted on the host. */
export type DevApp = Fetcher & Required<Pick<Fetcher, "close">>;

/** The server of the dev command. */
export type DevServer = Pick<Server, "address" | "finished" | "shutdown">;

/** Options of {@linkcode startServer}. */
export interface DevServerOptions {
  readonly hostname: string;
  readonly port: number;
  /** The path of the app's file. */
  readonly entry: string;
}

/**
 * Listens with the server of this runtime: Deno, Bun or Node.
 *
 * @throws {Error} If the port is in use. See `isPortInUse()`.
 */
export async function startServer(
  app: DevApp,
  options: DevServerOptions,
): Promise<DevServer> {
  if ("Deno" in globalThis) {
    const { hostname, port } = options;
    return serve(app, {
      hostname,
      port,
      shutdownTimeout: SHUTDOWN_TIMEOUT,
      signals: false,
      onListen: () => {},
    });
  }
  return "Bun" in globalThis
    ? (await import("./bun_server.ts")).startBunServer(app, options)
    : (await import("./node_server.ts")).startNodeServer(app, options);
}

/** Whether an error of any runtime says that a port is in use. */
export function isPortInUse(error: unknown): boolean {
  const { name, code } = Object(error);
  return name === "AddrInUse" || code === "EADDRINUSE";
}
