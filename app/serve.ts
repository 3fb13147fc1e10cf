import type { NetAddress } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import { checkFetcher } from "./fetcher.ts";
import type { Fetcher } from "./fetcher.ts";
import { checkOptions } from "../core/check/check_options.ts";
import type { OptionRules } from "../core/check/check_options.ts";
import { readDuration } from "../core/check/duration.ts";
import { listen, readPort, readTLS } from "./listen.ts";
import { serverURL } from "./server_url.ts";

/** Where and how to listen. */
export interface ServeOptions {
  /** The port. Default 8000; 0 takes any free one. */
  readonly port?: number;
  /** The address to listen on. Default `127.0.0.1`. */
  readonly hostname?: string;
  /**
   * The certificate and those that have signed it, in PEM. With it and `key`
   * the server speaks HTTPS, by HTTP/2 to those who can. Default: HTTP.
   */
  readonly cert?: string;
  /** The private key of `cert`, in PEM. */
  readonly key?: string;
  /**
   * Whether other processes may listen on the same port; Linux shares the
   * connections out among them. Deno wants `--unstable-net` for it. Default
   * `false`.
   */
  readonly reusePort?: boolean;
  /** Shuts the server down when aborted. */
  readonly signal?: AbortSignal;
  /** Whether SIGINT and SIGTERM shut the server down. Default `true`. */
  readonly signals?: boolean;
  /**
   * How long running requests may take to finish on shutdown, in milliseconds.
   * What is still running then is cut off; with `Infinity`, only on a second
   * signal. At most 2,147,483,647, almost 25 days. Default 10,000.
   */
  readonly grace?: number;
  /** Called once the port is open. Default: prints the address. */
  readonly onListen?: (address: NetAddress) => void;
}

const SERVE_OPTIONS: OptionRules<ServeOptions> = {
  port: true,
  hostname: true,
  cert: true,
  key: true,
  reusePort: true,
  signal: true,
  signals: true,
  grace: true,
  onListen: true,
};

/** A listening server. */
export interface Server {
  /** The address that is listened on. */
  readonly address: NetAddress;
  /**
   * Resolves when the server has shut down and its fetcher is closed; rejects
   * if the fetcher failed to close, or the server could not go on listening.
   */
  readonly finished: Promise<void>;
  /** Refuses new requests, finishes the running ones, closes the fetcher. */
  shutdown(): Promise<void>;
  /** The same, at the end of a block that has it by `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Serves requests with `Deno.serve` and shuts down gracefully: on SIGINT or
 * SIGTERM, running requests are finished, new ones get a 503, then the fetcher
 * is closed. A second signal doesn't wait for requests, a third one for nothing.
 *
 * @param fetcher What answers the requests.
 * @param options Where to listen.
 * @throws {Deno.errors.AddrInUse} If the port is taken.
 * @throws {Deno.errors.InvalidData} If `cert` or `key` is not PEM.
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
  checkOptions(options, SERVE_OPTIONS, "serve");
  const { signal, signals = true } = options;
  const grace = readDuration(options.grace ?? 10_000, "grace", "serve", {
    unit: "milliseconds",
    zero: true,
    endless: true,
  });
  const tls = readTLS(options);
  const handlers = createCounter();
  const responses = createCounter();
  const overdue = Promise.withResolvers<void>();
  const abort = new AbortController();
  let stopping: Promise<void> | undefined;

  const { hostname = "127.0.0.1" } = options;
  const port = readPort(options.port);
  const server = listen({
    port,
    hostname,
    reusePort: options.reusePort ?? false,
    ...tls,
    signal: abort.signal,
    onListen: options.onListen ??
      ((address) =>
        printAddress(address, tls === undefined ? "http" : "https")),
  }, async (request, info) => {
    if (stopping !== undefined) return refuse();
    handlers.add();
    responses.add();
    info.completed.then(responses.remove, responses.remove);
    try {
      return await fetcher.fetch(request, info);
    } finally {
      handlers.remove();
    }
  });

  const { promise: finished, resolve, reject } = Promise.withResolvers<void>();
  function begin(): Promise<void> {
    if (stopping === undefined) {
      stopping = stop();
      stopping.then(resolve, reject);
    }
    return stopping;
  }
  // It fails when it can't accept connections any more, for want of file
  // descriptors for instance. That must not look like the end of its work.
  let broken: { readonly error: unknown } | undefined;
  server.finished.then(begin, (error) => {
    broken = { error };
    return begin();
  }).catch(() => {});

  /**
   * Handlers first: they may need what the fetcher holds. Then the fetcher,
   * whose streams and sockets would keep the responses from ever being done.
   * Then the server; once told to shut down, it can't cut off anything any
   * more, so an upload that nobody reads is left behind when time is up.
   */
  async function stop(): Promise<void> {
    const timer = grace === Infinity
      ? undefined
      : setTimeout(overdue.resolve, grace);
    try {
      await Promise.race([handlers.empty(), overdue.promise]);
      const closed = close(fetcher);
      const late = await Promise.race([
        Promise.all([closed, responses.empty()]).then(() => false),
        overdue.promise.then(() => true),
      ]);
      if (late) abort.abort();
      const down = late ? server.finished : server.shutdown();
      await Promise.race([down, overdue.promise]);
      server.unref();
      const failure = broken ?? await closed;
      if (failure !== undefined) throw failure.error;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", begin);
      if (signals) ignoreSignals(onSignal);
    }
  }

  function onSignal(): void {
    if (stopping === undefined) {
      begin();
    } else {
      overdue.resolve();
      // A third one ends the process, whatever it still waits for.
      ignoreSignals(onSignal);
    }
  }

  /** Whoever calls this gets to know of a failure from this. */
  function shutdown(): Promise<void> {
    finished.catch(() => {});
    return begin();
  }

  if (signals) listenToSignals(onSignal);
  signal?.addEventListener("abort", begin, { once: true });
  if (signal?.aborted) begin();
  return {
    address: server.addr,
    finished,
    shutdown,
    [Symbol.asyncDispose]: shutdown,
  };
}

/** Counts what is under way. */
function createCounter() {
  let count = 0;
  const emptied = Promise.withResolvers<void>();
  let awaited = false;
  return {
    add: () => void count++,
    remove: () => {
      if (--count === 0 && awaited) emptied.resolve();
    },
    /** Resolves when nothing is under way. */
    empty(): Promise<void> {
      awaited = true;
      if (count === 0) emptied.resolve();
      return emptied.promise;
    },
  };
}

/** What comes in while the last requests finish; another server may take it. */
function refuse(): Response {
  return errorResponse(
    503,
    "SHUTTING_DOWN",
    "The server is shutting down",
    { connection: "close" },
  );
}

/** Never rejects, so that a failure doesn't end the wait for the requests. */
async function close(
  fetcher: Fetcher,
): Promise<{ readonly error: unknown } | undefined> {
  try {
    await fetcher.close?.();
    return undefined;
  } catch (error) {
    return { error };
  }
}

function checkRuntime(): void {
  if ("Deno" in globalThis) return;
  throw new TypeError(
    "Cannot serve: Deno.serve is not available in this runtime; use toNode(app) with a server of Node, or toBun(app) with Bun.serve",
  );
}

/** Windows knows SIGINT and SIGBREAK only. */
function signalNames(): Deno.Signal[] {
  return Deno.build.os === "windows"
    ? ["SIGINT", "SIGBREAK"]
    : ["SIGINT", "SIGTERM"];
}

function listenToSignals(listener: () => void): void {
  for (const name of signalNames()) Deno.addSignalListener(name, listener);
}

function ignoreSignals(listener: () => void): void {
  for (const name of signalNames()) Deno.removeSignalListener(name, listener);
}

function printAddress(address: NetAddress, scheme: "http" | "https"): void {
  console.log(`Listening on ${serverURL(address, scheme)}`);
}
