import type { ConnectionInfo, Context } from "../core/context.ts";
import type { Middleware } from "../core/middleware.ts";
import type { PluginHost } from "../core/plugin.ts";
import type { Route } from "../core/route.ts";
import type { ServeOptions, Server } from "./serve.ts";

/** A server's worth of middlewares, routes and plugins. */
export interface App extends PluginHost {
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
   * Tells the plugins that the app is about to close: readiness turns 503.
   * Requests are still answered. `serve()` calls it.
   */
  drain(): void;
  /**
   * Closes the plugins, the last one first. If one fails to, the others are
   * closed all the same, and it rejects. Calling it again does nothing.
   */
  close(): Promise<void>;
  /** The same, at the end of a block that has it by `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
