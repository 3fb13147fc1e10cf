/**
 * What carries plugins: here under an app of the kit's own, and in `adapters/`
 * on the servers of others.
 *
 * @module
 */

import type { App } from "./app.ts";
import { Context } from "../core/context.ts";
import type { ConnectionInfo } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import { guardCaches } from "../core/http/cache_control.ts";
import { readHost, refuseHost } from "../core/http/host_header.ts";
import { holdsGuard, misplaced } from "../core/guard_fragment.ts";
import { DEFAULT_MAX_BODY_SIZE, readBodyLimit } from "./body_limit.ts";
import type { OptionRules } from "../core/check/check_options.ts";
import { isResponse } from "../core/http/is_response.ts";
import { printable, printableError } from "../core/redact/printable.ts";
import { redactText } from "../core/redact/redact.ts";
import { kindOf } from "../core/check/show.ts";
import { reportError } from "../core/report_error.ts";
import { compose } from "../core/middleware.ts";
import type { Middleware, Next } from "../core/middleware.ts";
import { pathOf } from "../core/path.ts";
import type { Plugin } from "../core/plugin.ts";
import type { Route } from "../core/route.ts";
import { createRouter } from "./router.ts";
import {
  currentScope,
  RequestScope,
  runInScope,
} from "../core/request_scope.ts";
import { serve } from "./serve.ts";

/** What an app is made of. */
export interface AppOptions {
  /** Modules and other plugins, in the order in which they see a request. */
  readonly plugins?: readonly Plugin[];
  /** The routes. */
  readonly routes?: readonly Route[];
  /** The plugin that traces requests, as `tracePlugin()` makes it. */
  readonly trace?: Plugin;
  /**
   * The maximum size of a route's request body, in bytes, or `Infinity`. Larger
   * bodies get 413 `PAYLOAD_TOO_LARGE`. Default: 1 MiB.
   */
  readonly maxBodySize?: number;
  /**
   * Gets what a handler or middleware threw, each error once. The response says
   * nothing of it, and does not wait for this. Default: `console.error`.
   */
  readonly onError?: (error: unknown, request: Request) => unknown;
}

/** The keys of {@linkcode AppOptions}. */
export const APP_OPTIONS: OptionRules<AppOptions> = {
  plugins: true,
  routes: true,
  trace: true,
  maxBodySize: true,
  onError: true,
};

/** How a host differs from the one that an app is. */
export interface HostOptions extends AppOptions {
  /**
   * Runs between the outermost middlewares and the others, and makes answers
   * of what is thrown further in. Default: a 500 in the kit's shape, logged.
   */
  readonly boundary?: Middleware<Context>;
}

/** The middlewares and routes of plugins. */
export interface Host {
  /** The host as an app, which is what plugins get to see of it. */
  readonly app: App;
  /**
   * Answers a request. It never rejects.
   *
   * @param otherwise Answers where no route does. Default: 404 or 405.
   */
  fetch(
    request: Request,
    info: ConnectionInfo | undefined,
    otherwise?: (request: Request) => Promise<Response>,
  ): Promise<Response>;
  /**
   * Answers a request whose context and scope there are already. What is
   * thrown and no boundary catches is thrown on.
   */
  handle(
    request: Request,
    context: Context,
    otherwise?: Next,
  ): Promise<Response>;
}

/** Makes a host. See `createApp`. */
export function createHost(options: HostOptions): Host {
  const { onError = logError, boundary = answerErrors } = options;
  const plugins = readPlugins(options);
  const router = createRouter(
    readBodyLimit(options.maxBodySize, DEFAULT_MAX_BODY_SIZE, "create app"),
  );
  const outer: Middleware<Context>[] = [];
  const inner: Middleware<Context>[] = [];
  let chain: Middleware<Context> | undefined;
  let ready: Promise<void> | true | undefined;
  let closing: Promise<void> | undefined;

  const app: App = {
    use(middleware) {
      if (typeof middleware !== "function") {
        throw new TypeError(
          `Cannot use middleware: it must be a function, received ${
            kindOf(middleware)
          }`,
        );
      }
      (middleware.outermost ? outer : inner).push(middleware);
      chain = undefined;
      return app;
    },
    route(route) {
      router.add(route);
      return app;
    },
    fetch: (request, info) => fetch(request, info),
    async serve(serveOptions) {
      await (ready ??= setUp());
      return serve(app, serveOptions);
    },
    drain() {
      for (const plugin of plugins) plugin.drain?.();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
  for (const plugin of plugins) {
    for (const middleware of [plugin.middleware ?? []].flat()) {
      app.use(middleware as Middleware<Context>);
    }
    for (const route of plugin.routes ?? []) app.route(route);
  }
  for (const route of options.routes ?? []) app.route(route);
  return { app, fetch, handle };

  function fetch(
    received: Request,
    info: ConnectionInfo | undefined,
    otherwise?: (request: Request) => Promise<Response>,
  ): Promise<Response> {
    const request = readHost(received);
    if (request === undefined) return Promise.resolve(refuseHost());
    const context = new Context(request, info);
    const scope = new RequestScope(context, undefined, currentScope());
    const rest = otherwise && (() => otherwise(request));
    return runInScope(scope, () => answer(request, context, scope, rest));
  }

  async function answer(
    request: Request,
    context: Context,
    scope: RequestScope,
    rest: Next | undefined,
  ): Promise<Response> {
    let response: Response;
    try {
      response = await handle(request, context, rest);
    } catch (error) {
      response = answerError(error, request);
    }
    return guardCaches(response, request, scope);
  }

  async function handle(
    request: Request,
    context: Context,
    otherwise?: Next,
  ): Promise<Response> {
    if (ready !== true) await (ready ??= setUp());
    chain ??= compose([...outer, boundary, ...inner]);
    return await chain(request, context, dispatch);

    /** A thrown response passes the middlewares like a returned one. */
    async function dispatch(): Promise<Response> {
      try {
        return await router.dispatch(request, context, otherwise);
      } catch (error) {
        if (isResponse(error) && !error.bodyUsed) return error;
        throw error;
      }
    }
  }

  async function setUp(): Promise<void> {
    // Only once `ready` holds this promise, whatever a setup does at once.
    await undefined;
    for (const plugin of plugins) await plugin.setup?.(app);
    ready = true;
  }

  async function answerErrors(
    request: Request,
    _context: Context,
    next: Next,
  ): Promise<Response> {
    try {
      return await next();
    } catch (error) {
      return answerError(error, request);
    }
  }

  /** Converts a thrown value to a response, and reports it. */
  function answerError(thrown: unknown, request: Request): Response {
    if (isResponse(thrown) && !thrown.bodyUsed) return thrown;
    const error = isResponse(thrown) ? readBefore(request) : thrown;
    currentScope()?.span?.error(error);
    reportError(onError, error, request);
    return errorResponse(
      500,
      "INTERNAL_ERROR",
      "The server could not answer this request",
    );
  }

  function close(): Promise<void> {
    return closing ??= closeAll(plugins);
  }
}

/** The plugins of an app, the outermost first. */
function readPlugins({ trace, plugins = [] }: HostOptions): readonly Plugin[] {
  if (trace !== undefined) checkPlugin(trace, "trace");
  for (const plugin of plugins) checkPlugin(plugin, "a plugin");
  const all = trace === undefined ? [...plugins] : [trace, ...plugins];
  const names = new Set<string>();
  for (const { name } of all) {
    if (names.has(name)) {
      throw new TypeError(
        `Cannot create app: two plugins are called ${JSON.stringify(name)}`,
      );
    }
    names.add(name);
  }
  return all;
}

function checkPlugin(plugin: unknown, what: string): void {
  const kind = kindOf(plugin);
  const isObject = kind === "an object";
  if (isObject && typeof (plugin as Plugin).name === "string") {
    if (!holdsGuard(plugin as Plugin)) return;
    throw misplaced("create app", `${what} holds one`);
  }
  throw new TypeError(
    `Cannot create app: ${what} must be an object with a name, as tracePlugin(tracer) gives, received ${kind}${
      isObject
        ? " without one"
        : kind === "a function"
        ? "; call it, as in rpcPlugin({ router }), or give it to app.use() if it is a middleware"
        : ""
    }`,
  );
}

/** The error for a thrown response that can't be sent any more. */
function readBefore({ method, url }: Request): TypeError {
  return new TypeError(
    `Cannot answer ${method} ${
      pathOf(url)
    }: the body of the thrown Response was read or sent before; throw a new one, or a clone()`,
  );
}

function logError(error: unknown, request: Request): void {
  // Not as one text: a path may hold what the console takes for a format.
  const path = printable(redactText(pathOf(request.url)));
  console.error("%s %s failed:", request.method, path, printableError(error));
}

/** Closes the plugins, the last one first, whichever of them fail to. */
async function closeAll(plugins: readonly Plugin[]): Promise<void> {
  const errors: unknown[] = [];
  const names: string[] = [];
  for (const plugin of plugins.toReversed()) {
    try {
      await plugin.close?.();
    } catch (error) {
      errors.push(error);
      names.push(JSON.stringify(plugin.name));
    }
  }
  if (errors.length === 0) return;
  if (errors.length === 1) throw errors[0];
  throw new AggregateError(
    errors,
    `Cannot close app: the plugins ${names.join(", ")} failed to close`,
  );
}
