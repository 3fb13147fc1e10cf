import { serve } from "../app/serve.ts";
import {
  type DevApp,
  type DevServer,
  type DevServerOptions,
  SHUTDOWN_TIMEOUT,
} from "./dev_server.ts";

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
