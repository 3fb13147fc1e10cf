import {
  type ConnectionInfo,
  Context,
  type RequestContext,
} from "../../core/context.ts";
import { checkResponse } from "../../core/http/message.ts";
import { isA } from "../../core/check/rules.ts";
import type { MaybePromise } from "../../core/promises.ts";
import { acceptDirect, type DirectNext } from "../../core/middleware.ts";
import type { Plugin } from "../../core/plugin.ts";
import { currentScope } from "../../core/request_scope.ts";
import { UnavailableError } from "../../core/error_response.ts";
import { createHost } from "../host.ts";
import {
  type Mountable,
  recoverResponse,
  toPlugins,
  visit,
  withoutBody,
} from "./mount.ts";

/** A route or a middleware of Hono. */
interface HonoRoute {
  /** The HTTP method. `ALL` for middlewares and for `app.all()`. */
  readonly method: string;
  readonly path: string;
}

/** The part of Hono's `c.req` that is used. */
interface HonoRequest {
  readonly raw: Request;
  /** The routes and middlewares that match the request, in order. */
  readonly matchedRoutes?: readonly HonoRoute[];
  /** The index of the one that ran last. */
  readonly routeIndex?: number;
}

/** The part of Hono's `c` that is used. */
interface HonoContext extends RequestContext {
  readonly req: HonoRequest;
  /** The second argument of `fetch`, as from `Deno.serve`. */
  readonly env: unknown;
  /** The error that Hono has answered with an error page. */
  error: Error | undefined;
  readonly finalized: boolean;
  res: Response;
}

/** A middleware for Hono. Pass it to `app.use`, or put it before a handler. */
export interface HonoMiddleware {
  /**
   * Answers a request, or runs the rest of Hono's chain.
   *
   * @param c Hono's context.
   */
  (c: RequestContext, next: () => Promise<void>): Promise<
    Response | undefined
  >;
  /** Notifies the plugins that a shutdown begins. */
  readonly drain: () => void;
  /**
   * Refuses new requests with 503, waits for pending ones for 10 seconds at most,
   * and then closes the plugins, the last one first. Calling it again does
   * nothing.
   */
  readonly close: () => Promise<void>;
}

/** The context that all middlewares of the kit on one Hono app share. */
class SharedContext extends Context {
  readonly c: HonoContext;
  /** Whether a part has answered instead of Hono. */
  isAnswered = false;

  constructor(c: HonoContext) {
    super(c.req.raw, infoOf(c.env), c);
    this.c = c;
  }
}

const contexts = new WeakMap<RequestContext, SharedContext>();

/**
 * Creates a middleware for Hono from modules of the kit. Mount them together or
 * one by one: they share the request's context. Their functions take Hono's
 * `c`, as in `getAuth(c)`.
 *
 * Hono's error pages stay, except for an `AuthError` or `UnavailableError` that
 * would be a 500. These have their own responses. A thrown `Response` is the
 * response.
 *
 * @param parts Plugins, middlewares and guards, the outermost first. Tracing is
 * always the outermost. Without parts, it adds Hono's routes and errors to
 * traces.
 * @throws {TypeError} If a part is not a plugin, middleware or guard, or two
 * plugins share a name.
 *
 * @example
 * ```ts
 * import { toHono } from "@quartet/kit/app";
 * import { createAuthPlugin, getAuth, requireAuth } from "@quartet/kit/auth";
 * import { Hono } from "hono";
 *
 * const auth = createAuthPlugin({
 *   session: { secret: "a secret of at least thirty-two bytes" },
 * });
 * const app = new Hono();
 * app.use(toHono(auth));
 * app.get("/", (c) => c.json(getAuth(c).isAuthenticated()));
 * app.get("/account", toHono(requireAuth()), (c) => c.text("secret"));
 *
 * console.assert(await (await app.request("/")).json() === false);
 * console.assert((await app.request("/account")).status === 401);
 * ```
 */
export function toHono(...parts: Mountable[]): HonoMiddleware {
  // Before all parts: one of them may answer, and a plugin's route replaces it.
  const noteNext: Plugin = {
    name: "toHono()",
    middleware: acceptDirect(noteNextRoute),
  };
  const plugins = [noteNext, ...toPlugins(parts)];
  const host = createHost({ plugins, recover });
  const { drain, close } = host.app;
  return Object.assign(answer, { drain, close });

  async function answer(
    honoContext: RequestContext,
    next: () => Promise<void>,
  ): Promise<Response | undefined> {
    const c = honoContext as HonoContext;
    let context = contexts.get(c);
    if (context === undefined) contexts.set(c, context = new SharedContext(c));
    let isPassed = false;
    const response = await visit(host, context, () => {
      isPassed = true;
      return pass(context, next);
    });
    if (!isPassed) context.isAnswered = true;
    // Hono copies a response to add the headers that were set before. The
    // response of an upgrade can't be copied.
    if (!c.finalized && response.status !== 101) return response;
    if (response !== c.res) replaceResponse(c, response);
    return undefined;
  }
}

function infoOf(env: unknown): ConnectionInfo | undefined {
  return typeof env === "object" && env !== null && "remoteAddr" in env
    ? env as ConnectionInfo
    : undefined;
}

/**
 * Runs the rest of Hono's chain. Hono turns every error into an error page. If
 * that is a 500, the error is thrown, so that the parts see it.
 */
async function pass(
  context: SharedContext,
  next: () => Promise<void>,
): Promise<Response> {
  const { c, c: { req } } = context;
  await next().catch((error) => {
    // Hono's `onError` has thrown, so Hono has no error page.
    c.error = undefined;
    throw error;
  });
  if (!context.isAnswered) noteRoute(req.matchedRoutes?.[req.routeIndex ?? -1]);
  if (c.error !== undefined && c.res.status >= 500) throw c.error;
  // Reading `c.res` would create an empty 200, and hide Hono's own error.
  checkResponse(
    c.finalized ? c.res : undefined,
    req.raw,
    "a handler of Hono must return",
    () => "; a middleware of Hono must await next()",
  );
  if (req.raw.method === "HEAD") replaceResponse(c, withoutBody(c.res));
  return c.res;
}

/** Records the route that the request is for, which a guard may refuse. */
function noteNextRoute(
  _request: Request,
  context: Context,
  next: DirectNext,
): MaybePromise<Response> {
  if (context instanceof SharedContext) {
    const { matchedRoutes = [], routeIndex = 0 } = context.c.req;
    const rest = matchedRoutes.slice(routeIndex);
    noteRoute(rest.find(({ method }) => method !== "ALL") ?? rest.at(-1));
  }
  return next();
}

/** Records the route of the request. */
function noteRoute(route: HonoRoute | undefined): void {
  // A middleware for all requests ran last if no route has matched.
  if (route?.method === "ALL" && route.path === "/*") return;
  if (route) currentScope()?.span?.root.setAttribute("http.route", route.path);
}

/** Without the first assignment, Hono adds the headers of the old response. */
function replaceResponse(c: { res: unknown }, response: Response): void {
  c.res = undefined;
  c.res = response;
}

/** Answers an error that no part has handled with Hono's error page. */
function recover(error: unknown, request: Request, context: Context) {
  if (!(context instanceof SharedContext) || error !== context.c.error) {
    return recoverResponse(error, request);
  }
  currentScope()?.span?.error(error);
  const { res } = context.c;
  return res.status === 500 && isA(error, UnavailableError)
    ? error.toResponse()
    : res;
}
