import type { Fetcher } from "../app/fetcher.ts";
import type { Server } from "../app/serve.ts";
import { limitClose } from "../core/closing.ts";
import { settlesWithin } from "../core/promises.ts";

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
 * Returns the server of a runtime that has started to listen.
 *
 * @param close Stops listening, and waits for open connections.
 * @param closeConnections Closes the connections that are still open.
 */
export function devServer(
  app: DevApp,
  hostname: string,
  port: number,
  close: () => Promise<unknown>,
  closeConnections: () => void,
): DevServer {
  const { promise: finished, resolve } = Promise.withResolvers<void>();

  async function stop(): Promise<void> {
    const closed = close();
    try {
      await limitClose(async () => await app.close(), SHUTDOWN_TIMEOUT);
    } finally {
      const isClosed = await settlesWithin(closed, SHUTDOWN_TIMEOUT * 1_000);
      if (!isClosed) closeConnections();
    }
  }
  return {
    address: { transport: "tcp", hostname, port },
    finished,
    shutdown() {
      resolve(stop());
      return finished;
    },
  };
}
