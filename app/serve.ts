import type { ConnectionInfo } from "./context.ts";

/** Something that answers requests: an app, or what a `main.ts` exports. */
export interface Fetcher {
  /** Answers one request. */
  fetch(
    request: Request,
    info?: ConnectionInfo,
  ): Response | Promise<Response>;
  /** Lets go of what the fetcher holds, once the last request is answered. */
  close?(): void | Promise<void>;
}

/** Where and how to listen. */
export interface ServeOptions {
  /** The port. Default 8000; 0 takes any free one. */
  readonly port?: number;
  /** The address to listen on. Default `127.0.0.1`. */
  readonly hostname?: string;
  /** Shuts the server down when aborted. */
  readonly signal?: AbortSignal;
  /** Whether SIGINT and SIGTERM shut the server down. Default `true`. */
  readonly signals?: boolean;
  /**
   * How long running requests may take to finish on shutdown, in milliseconds.
   * What is still running then is cut off. Default 10,000.
   */
  readonly grace?: number;
  /** Called once the port is open. Default: prints the address. */
  readonly onListen?: (address: Deno.NetAddr) => void;
}

/** A listening server. */
export interface Server {
  /** The address that is listened on. */
  readonly address: Deno.NetAddr;
  /** Resolves when the server has shut down and its fetcher is closed. */
  readonly finished: Promise<void>;
  /** Takes no new requests, finishes the running ones, closes the fetcher. */
  shutdown(): Promise<void>;
}

/**
 * Serves requests with `Deno.serve` and shuts down gracefully: on SIGINT or
 * SIGTERM, running requests are finished, then the fetcher is closed. A second
 * signal doesn't wait.
 *
 * @param fetcher What answers the requests.
 * @param options Where to listen.
 * @throws {Deno.errors.AddrInUse} If the port is taken.
 *
 * @example
 * ```ts
 * import { serve } from "@quartet/kit/app";
 *
 * const server = serve(
 *   { fetch: () => new Response("hello") },
 *   { port: 0, onListen: () => {} },
 * );
 * const response = await fetch(`http://127.0.0.1:${server.address.port}/`);
 * console.assert(await response.text() === "hello");
 * await server.shutdown();
 * ```
 */
export function serve(fetcher: Fetcher, options: ServeOptions = {}): Server {
  const { signal, signals = true, grace = 10_000 } = options;
  const abort = new AbortController();
  const server = Deno.serve({
    port: options.port ?? 8000,
    hostname: options.hostname ?? "127.0.0.1",
    signal: abort.signal,
    onListen: options.onListen ?? printAddress,
  }, (request, info) => fetcher.fetch(request, info));

  let stopping: Promise<void> | undefined;
  const shutdown = () => stopping ??= stop();
  const onSignal = () => stopping === undefined ? shutdown() : abort.abort();

  async function stop(): Promise<void> {
    const timer = setTimeout(() => abort.abort(), grace);
    try {
      // Streams and sockets that the fetcher holds open would keep the server
      // from ever being done, so it lets go of them while requests finish.
      await Promise.all([server.shutdown(), fetcher.close?.()]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", shutdown);
      if (signals) ignoreSignals(onSignal);
    }
  }

  if (signals) listenToSignals(onSignal);
  signal?.addEventListener("abort", shutdown, { once: true });
  if (signal?.aborted) shutdown();
  return {
    address: server.addr,
    finished: server.finished.then(() => shutdown()),
    shutdown,
  };
}

/** Windows knows SIGINT and SIGBREAK only. */
const SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM"];

function listenToSignals(listener: () => void): void {
  for (const name of SIGNALS) Deno.addSignalListener(name, listener);
}

function ignoreSignals(listener: () => void): void {
  for (const name of SIGNALS) Deno.removeSignalListener(name, listener);
}

function printAddress({ hostname, port }: Deno.NetAddr): void {
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  console.log(`Listening on http://${host}:${port}/`);
}
