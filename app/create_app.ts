import type { ConnectionInfo, Context } from "./context.ts";
import { createHost } from "./host.ts";
import type { Middleware } from "./middleware.ts";
import type { Plugin } from "./plugin.ts";
import type { Route } from "./route.ts";
import type { ServeOptions, Server } from "./serve.ts";

/** What an app is made of. */
export interface AppOptions {
  /** Modules and other plugins, in the order in which they see a request. */
  readonly plugins?: readonly Plugin[];
  /** The routes. */
  readonly routes?: readonly Route[];
  /** The plugin that traces requests, as `tracePlugin()` makes it. */
  readonly trace?: Plugin;
  /**
   * Gets what a handler or middleware threw, once an error. The response says
   * nothing of it, and waits for nothing either. Default: `console.error`.
   */
  readonly onError?: (error: unknown, request: Request) => unknown;
}

/** A server's worth of middlewares, routes and plugins. */
export interface App {
  /** Adds a middleware. The first one added is the outermost. */
  use(middleware: Middleware<Context>): App;
  /** Adds a route. */
  route(route: Route): App;
  /**
   * Answers a request. It never rejects: a thrown `Response` is the response,
   * anything else that is thrown becomes a 500. Give it to `Deno.serve`, or
   * call it in a test.
   */
  readonly fetch: (
    request: Request,
    info?: ConnectionInfo,
  ) => Promise<Response>;
  /** Listens on a port until SIGINT, SIGTERM or `shutdown()`. */
  serve(options?: ServeOptions): Promise<Server>;
  /**
   * Closes the plugins, the last one first, each of them even if another one
   * fails to; then it rejects. Calling it again does nothing.
   */
  close(): Promise<void>;
}

/**
 * Makes an app: the smallest host that the kit's modules can be mounted on.
 *
 * @param options What the app is made of.
 * @throws {TypeError} If a route is malformed or two plugins share a name.
 *
 * @example
 * ```ts
 * import { createApp } from "@quartet/kit/app";
 *
 * const app = createApp({
 *   routes: [{ path: "/hello/:name", loader: ({ params }) => params }],
 * });
 * const response = await app.fetch(new Request("http://localhost/hello/ada"));
 * console.assert((await response.json()).name === "ada");
 * ```
 */
export function createApp(options: AppOptions = {}): App {
  return createHost(options).app;
}
