/**
 * The host runs plugins, middlewares and routes for each request. An app is a
 * host. The adapters mount one on another server.
 *
 * ```
 *   fetch(request) ─ checked Host ─► new Context ─► new RequestScope
 *     outermost middlewares, such as tracing
 *       errors become responses
 *         middlewares
 *           router: guards ─ body limit ─ handler
 *     personal? Cache-Control: private
 * ```
 *
 * No step creates a promise unless something waits.
 *
 * @module
 */

import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../core/check/options.ts";
import {
  aFunction,
  isA,
  kindOf,
  type Rule,
  rule,
} from "../core/check/rules.ts";
import { Context } from "../core/context.ts";
import { errorResponse, UnavailableError } from "../core/error_response.ts";
import { readHost, refuseHost } from "../core/http/origin.ts";
import {
  isResponse,
  isUnread,
  pathOf,
  thrownResponse,
  unsentError,
} from "../core/http/message.ts";
import { noteUnhandledError } from "../core/http/unhandled_error.ts";
import {
  attempt,
  isThenable,
  type MaybePromise,
  whenDone,
} from "../core/promises.ts";
import { type Chain, compose, type Middleware } from "../core/middleware.ts";
import {
  printable,
  printableError,
  reportError,
} from "../core/redact/printable.ts";
import { redactText } from "../core/redact/redact.ts";
import {
  currentScope,
  RequestScope,
  runInScope,
  runOutside,
  scopeAround,
} from "../core/request_scope.ts";
import type { Route } from "../core/route.ts";
import type { App, AppOptions } from "./app.ts";
import { aBodySize } from "./body_limit.ts";
import { finish } from "./finish.ts";
import { closePlugins, drainPlugins, readPlugins } from "./plugins.ts";
import { createRouter, type Otherwise } from "./router.ts";
import { serve } from "./serve.ts";
import { refuseRequest, RunningScopes } from "./shutdown.ts";

/** The rules of {@linkcode AppOptions}. The host checks each plugin and route. */
const APP_OPTIONS: OptionRules<AppOptions> = {
  plugins: rule("an array of plugins", Array.isArray),
  routes: rule("an array of routes", Array.isArray),
  trace: true,
  maxBodySize: aBodySize,
  onError: aFunction,
};

const PLUGIN = "a plugin; pass it to createApp({ plugins })";
/** A middleware. Errors don't show what else was passed. */
const A_MIDDLEWARE: Rule = {
  ...aFunction,
  describe: (value) => "name" in Object(value) ? PLUGIN : kindOf(value),
};

/**
 * Creates an app: the smallest host for the modules of the kit.
 *
 * @param options The app's settings.
 * @throws {TypeError} If an option is unknown, a route is malformed, a plugin is
 * invalid, or two plugins share a name.
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
  checkOptions(options, APP_OPTIONS, "create app");
  return createHost(options).app;
}

/** Options of a host. */
export interface HostOptions extends AppOptions {
  /**
   * Called with an error, to return its response or throw it on: inside the
   * outermost middlewares, and again outside of them. Default: a 500, reported
   * to `onError`, or the 503 of an `UnavailableError`.
   */
  readonly recover?: (
    error: unknown,
    request: Request,
    context: Context,
  ) => Response;
  /** Answers if no route matches. Default: 404 or 405. */
  readonly otherwise?: Otherwise;
}

/** Plugins and routes that answer requests. */
export interface Host {
  /** The host as an app. Plugins get it in `setup()`. */
  readonly app: App;
  /**
   * Answers a request in its own scope. It throws the errors of `recover`.
   *
   * @param otherwise Answers if no route matches. Default: the option.
   */
  run(context: Context, otherwise?: Otherwise): MaybePromise<Response>;
}

/** Creates a host. */
export function createHost(options: HostOptions): Host {
  const { onError = logError, recover = answerError } = options;
  const plugins = readPlugins(options);
  const router = createRouter(options.maxBodySize);
  const outer: Middleware<Context>[] = [];
  const inner: Middleware<Context>[] = [];
  let chain: Chain<Context, Otherwise | undefined> | undefined;
  let isReady = false;
  let ready: Promise<void> | undefined;
  const running = new RunningScopes();
  const close = () => running.end(() => closePlugins(plugins));

  const app: App = {
    use(middleware) {
      checkValue(middleware, "it", A_MIDDLEWARE, "use middleware");
      (middleware.outermost ? outer : inner).push(middleware);
      chain = undefined;
      return app;
    },
    route(route) {
      // The router finds the parameters that its path names.
      router.add(route as unknown as Route);
      return app;
    },
    fetch(received, info) {
      const request = readHost(received);
      return Promise.resolve(
        request === undefined ? refuseHost() : run(new Context(request, info)),
      );
    },
    async serve(serveOptions) {
      running.checkOpen();
      await getReady();
      return serve(app, serveOptions);
    },
    drain: () => drainPlugins(plugins),
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
  return { app, run };

  function getReady(): Promise<void> {
    // Otherwise work that a setup starts would keep the first request's scope.
    return ready ??= runOutside(setUp);
  }

  async function setUp(): Promise<void> {
    // Wait until `ready` is set, because a setup may call `fetch()`.
    await undefined;
    for (const plugin of plugins) await plugin.setup?.(app, plugins);
    isReady = true;
  }

  function run(
    context: Context,
    otherwise = options.otherwise,
  ): MaybePromise<Response> {
    const scope = new RequestScope(context, undefined, scopeAround(context));
    if (running.refuses(scope)) return refuseRequest();
    running.add(scope);
    let response: MaybePromise<Response> | undefined;
    try {
      response = runInScope(scope, answer, context, scope, otherwise);
      return response;
    } finally {
      if (isThenable(response)) running.removeAfter(response, scope);
      else running.remove(scope);
    }
  }

  function answer(
    context: Context,
    scope: RequestScope,
    otherwise: Otherwise | undefined,
  ): MaybePromise<Response> {
    return attempt(respond, fail, context, scope, otherwise);
  }

  function respond(
    context: Context,
    scope: RequestScope,
    otherwise: Otherwise | undefined,
  ): MaybePromise<Response> {
    const { request } = context;
    const response = isReady
      ? handle(request, context, otherwise)
      : handleWhenReady(request, context, otherwise);
    return whenDone(response, finish, request, scope);
  }

  function fail(
    error: unknown,
    context: Context,
    scope: RequestScope,
  ): Response {
    const { request } = context;
    return finish(recover(error, request, context), request, scope);
  }

  async function handleWhenReady(
    request: Request,
    context: Context,
    otherwise: Otherwise | undefined,
  ): Promise<Response> {
    await getReady();
    return await handle(request, context, otherwise);
  }

  function handle(
    request: Request,
    context: Context,
    otherwise: Otherwise | undefined,
  ): MaybePromise<Response> {
    chain ??= composeChain();
    return chain(request, context, otherwise);
  }

  function composeChain(): Chain<Context, Otherwise | undefined> {
    // A thrown response passes the middlewares like a returned one. `answer`
    // recovers outside of all middlewares.
    const routes = inner.length === 0
      ? router.dispatch
      : compose(inner, recovering(router.dispatch, thrownResponse));
    return outer.length === 0
      ? routes
      : compose(outer, recovering(routes, recover));
  }

  /** Creates a response from a thrown value, and reports errors. */
  function answerError(thrown: unknown, request: Request): Response {
    if (isUnread(thrown)) return thrown;
    const error = isResponse(thrown) ? unsentError(request, thrown) : thrown;
    currentScope()?.span?.error(error);
    // The code that threw it has reported the outage.
    if (isA(error, UnavailableError)) return error.toResponse();
    reportError(onError, error, request);
    const text = "The server could not answer this request";
    const response = errorResponse(500, "INTERNAL_ERROR", text);
    return noteUnhandledError(response, error);
  }
}

function recovering<E>(
  chain: Chain<Context, E>,
  recover: NonNullable<HostOptions["recover"]>,
): Chain<Context, E> {
  return (request, context, end) =>
    attempt(chain, recover, request, context, end);
}

function logError(error: unknown, request: Request): void {
  // Not in the format string: a path may contain a `%s`.
  const path = printable(redactText(pathOf(request.url)));
  console.error("%s %s failed:", request.method, path, printableError(error));
}
