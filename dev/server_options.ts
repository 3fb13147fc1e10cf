import type { Fetcher } from "../app/fetcher.ts";
import type { Server } from "../app/serve.ts";

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
