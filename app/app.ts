import type { ConnectionInfo, Context } from "../core/context.ts";
import type { Middleware } from "../core/middleware.ts";
import type { Plugin, PluginHost } from "../core/plugin.ts";
import type { Route } from "../core/route.ts";
import type { ServeOptions, Server } from "./serve.ts";

/** Options of an app. */
export interface AppOptions {
  /** Modules and other plugins, the outermost first. */
  readonly plugins?: readonly Plugin[];
  /** The routes. */
  readonly routes?: readonly Route[];
  /** The plugin that traces requests, from `tracePlugin()`. */
  readonly trace?: Plugin;
  /**
   * The maximum size of a route's request body, in bytes, or `Infinity`. Larger
   * bodies get 413 `PAYLOAD_TOO_LARGE`. Default: 1 MiB.
   */
  readonly maxBodySize?: number;
  /**
   * Called once for each error that a handler or middleware throws, except for an
   * `UnavailableError`. The response doesn't wait for it and contains nothing of
   * the error. Default: `console.error`.
   */
  readonly onError?: (error: unknown, request: Request) => unknown;
}

/** Routes, middlewares and plugins on one server. */
export interface App extends PluginHost, AsyncDisposable {
  /** Adds a middleware. The first one added is the outermost. */
  use(middleware: Middleware<Context>): App;
  /** Adds a route. */
  route<const Path extends string>(route: Route<Path>): App;
  /**
   * Answers a request. It never rejects: a thrown `Response` is the response,
   * an `UnavailableError` becomes a 503, and any other error a 500. Pass it to
   * `Deno.serve`, or call it in a test.
   */
  readonly fetch: (
    request: Request,
    info?: ConnectionInfo,
  ) => Promise<Response>;
  /**
   * Listens on a port until SIGINT, SIGTERM or `shutdown()`. Rejects if the app
   * was closed.
   */
  serve(options?: ServeOptions): Promise<Server>;
  /**
   * Notifies the plugins that the app is about to close: readiness turns 503.
   * Requests are still answered. `serve()` calls it.
   */
  drain(): void;
  /**
   * Refuses new requests with 503, waits for pending ones for 10 seconds at most,
   * and then closes the plugins, the last one first. If one fails, it still closes
   * the others, and then rejects. Calling it again does nothing.
   */
  close(): Promise<void>;
}
