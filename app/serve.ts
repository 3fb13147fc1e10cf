import { checkOptions, type OptionRules } from "../core/check/options.ts";
import {
  aBoolean,
  aFunction,
  anAbortSignal,
  anIntegerBetween,
  aString,
  aTimeout,
} from "../core/check/rules.ts";
import { closeWithin, Deadline, SHUTDOWN_TIMEOUT } from "../core/closing.ts";
import type { NetAddress } from "../core/context.ts";
import { hasHeader } from "../core/http/message.ts";
import { attempt } from "../core/promises.ts";
import { printableError } from "../core/redact/printable.ts";
import { runOutside, WatchScope } from "../core/request_scope.ts";
import { checkFetcher, type Fetcher } from "./fetcher.ts";
import { finish } from "./finish.ts";
import { listen, listenToSignals, readTLS } from "./listen.ts";
import { serverURL } from "./server_url.ts";
import { PendingRequests, refuseRequest } from "./shutdown.ts";

/** Options of `serve()`. */
export interface ServeOptions {
  /** The port. Default: 8000. 0 takes any free one. */
  readonly port?: number;
  /** The address to listen on. Default: `127.0.0.1`. */
  readonly hostname?: string;
  /**
   * The certificate chain, in PEM. With it and `key` the server speaks HTTPS,
   * and HTTP/2 with clients that support it. Default: HTTP.
   */
  readonly cert?: string;
  /** The private key of `cert`, in PEM. */
  readonly key?: string;
  /**
   * Whether other processes may listen on the same port. Linux distributes the
   * connections among them. Deno needs `--unstable-net` for it. Default: `false`.
   */
  readonly reusePort?: boolean;
  /** Shuts the server down when aborted. */
  readonly signal?: AbortSignal;
  /** Whether SIGINT and SIGTERM shut the server down. Default: `true`. */
  readonly signals?: boolean;
  /**
   * The seconds that a shutdown still accepts requests while readiness is 503,
   * so that load balancers notice. Default: 0.
   */
  readonly drain?: number;
  /**
   * The time for pending requests to finish after that, in seconds. The rest is
   * cut off. With `Infinity`, only a second signal cuts it off. At most
   * 2,147,483, almost 25 days. Default: 10.
   */
  readonly shutdownTimeout?: number;
  /** Called once the port is open. Default: prints the address. */
  readonly onListen?: (address: NetAddress) => void;
}

const OPTIONS: OptionRules<ServeOptions> = {
  port: anIntegerBetween(0, 65_535),
  hostname: aString,
  cert: true,
  key: true,
  reusePort: aBoolean,
  signal: anAbortSignal,
  signals: aBoolean,
  drain: aTimeout("seconds", { zero: true }),
  shutdownTimeout: aTimeout("seconds", { zero: true, endless: true }),
  onListen: aFunction,
};

/** A listening server. */
export interface Server extends AsyncDisposable {
  /** The address that it listens on. */
  readonly address: NetAddress;
  /**
   * Resolves when the server has shut down and its fetcher is closed. Rejects
   * if the fetcher failed to close, or the server could no longer listen.
   */
  readonly finished: Promise<void>;
  /**
   * Drains, refuses new requests, finishes the pending ones, and closes the
   * fetcher. A handler must not await it, because it waits for the handler.
   */
  shutdown(): Promise<void>;
}

/**
 * Serves requests with `Deno.serve` and shuts down gracefully. On SIGINT or
 * SIGTERM, readiness turns 503, and requests are still answered for `drain`
 * seconds. Then new requests get a 503, pending ones finish, and the fetcher is
 * closed. A second signal cuts off requests. A third one ends the process.
 *
 * @param fetcher The app, or any object with a `fetch` method.
 * @param options The address, and the time of a shutdown.
 * @throws {Deno.errors.AddrInUse} If the port is taken.
 * @throws {Deno.errors.InvalidData} If `cert` or `key` isn't PEM.
 * @throws {TypeError} If an option is wrong or unknown, the fetcher has no
 * `fetch`, or the runtime has no `Deno.serve`, such as Node and Bun.
 *
 * @example
 * ```ts
 * import { serve } from "@quartet/kit/app";
 *
 * await using server = serve(
 *   { fetch: () => new Response("hello") },
 *   { port: 0, onListen: () => {} },
 * );
 * const response = await fetch(`http://127.0.0.1:${server.address.port}/`);
 * console.assert(await response.text() === "hello");
 * ```
 */
export function serve(fetcher: Fetcher, options: ServeOptions = {}): Server {
  checkRuntime();
  checkFetcher(fetcher, "serve");
  checkOptions(options, OPTIONS, "serve");
  const { signal, signals = true, drain = 0 } = options;
  const { shutdownTimeout = SHUTDOWN_TIMEOUT } = options;
  const tls = readTLS(options);
  const requests = new PendingRequests();
  const drainEnd = new Deadline();
  const deadline = new Deadline();
  const abort = new AbortController();
  const finished = Promise.withResolvers<void>();
  let phase: "serving" | "draining" | "stopping" = "serving";

  const handler = (request: Request, info: Deno.ServeHandlerInfo) =>
    hasHeader(request.headers, "upgrade")
      ? handleUpgrade(request, info)
      : fetcher.fetch(request, info);

  /** As in a host, a request that fails after its upgrade has its socket closed. */
  async function handleUpgrade(request: Request, info: Deno.ServeHandlerInfo) {
    const scope = runOutside(() => new WatchScope());
    scope.info = info;
    const respond = () => fetcher.fetch(request, info);
    try {
      return finish(await scope.run(respond), request, scope);
    } catch (error) {
      if (scope.refuseUpgrade === undefined) throw error;
      console.error("Cannot open WebSocket:", printableError(error));
      return scope.refuseUpgrade();
    }
  }

  const server = listen(
    {
      port: options.port ?? 8000,
      hostname: options.hostname ?? "127.0.0.1",
      reusePort: options.reusePort ?? false,
      ...tls,
      signal: abort.signal,
      onListen: options.onListen ??
        ((address) => {
          const url = serverURL(address, tls ? "https" : "http");
          console.log(`Listening on ${url}`);
        }),
    },
    (request, info) =>
      phase === "stopping"
        ? refuseRequest()
        : requests.handle(request, info, handler),
  );
  // It fails if it can no longer accept connections, for example without file
  // descriptors. `finished` must reject then.
  let broken: { readonly error: unknown } | undefined;
  server.finished.catch((error) => broken = { error }).then(begin);

  function begin(): void {
    if (phase !== "serving") return;
    phase = "draining";
    stop().then(finished.resolve, finished.reject);
  }

  function shutdown(): Promise<void> {
    begin();
    // The caller gets failures from the returned promise.
    finished.promise.catch(() => {});
    return finished.promise;
  }

  async function stop(): Promise<void> {
    try {
      attempt(() => fetcher.drain?.(), (error) => {
        console.error("drain() failed:", printableError(error));
      });
      if (drain > 0) {
        drainEnd.start(drain * 1_000);
        await drainEnd.limits(server.finished.catch(() => {}));
        drainEnd.pass();
      }
      phase = "stopping";
      deadline.start(shutdownTimeout * 1_000);
      // After the handlers, which may need the fetcher's resources. Before the
      // bodies, because the fetcher's open streams would never end.
      await deadline.limits(requests.handled());
      const closed = closeWithin(deadline, async () => await fetcher.close?.());
      // A failure to close doesn't end the wait for the requests.
      const isLate = await deadline.limits(
        Promise.allSettled([closed, requests.sent()]),
      );
      // After `shutdown()` the server can't cut off requests any more.
      if (isLate) abort.abort();
      await deadline.limits(isLate ? server.finished : server.shutdown());
      server.unref();
      if (broken !== undefined) throw broken.error;
      await closed;
    } finally {
      deadline.pass();
      signal?.removeEventListener("abort", begin);
      ignoreSignals();
    }
  }

  function onSignal(): void {
    if (phase === "serving") {
      begin();
    } else {
      drainEnd.pass();
      deadline.pass();
      // A third one ends the process.
      ignoreSignals();
    }
  }

  const ignoreSignals = signals ? listenToSignals(onSignal) : () => {};
  signal?.addEventListener("abort", begin, { once: true });
  if (signal?.aborted) begin();
  return {
    address: server.addr,
    finished: finished.promise,
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}

function checkRuntime(): void {
  if ("Deno" in globalThis) return;
  throw new TypeError(
    "Cannot serve: Deno.serve is not available in this runtime; use toNode(app) with a server of Node, or toBun(app) with Bun.serve",
  );
}
