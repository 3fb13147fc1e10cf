import { Context } from "../../core/context.ts";
import type { ConnectionInfo, RequestContext } from "../../core/context.ts";
import { createHost } from "../host.ts";
import { currentScope } from "../../core/request_scope.ts";
import type { Mountable } from "./mountable.ts";
import { toPlugins } from "./mountable.ts";
import { recoverResponse, visit } from "./visit.ts";

/** What is used of Hono's `c`. */
export interface HonoContext extends RequestContext {
  /** Hono's request. */
  readonly req: {
    /** The request as received. */
    readonly raw: Request;
    /** The path of the route that ran last, such as `/posts/:id`. */
    readonly routePath?: string;
  };
  /** What `fetch` was given beside the request, as by `Deno.serve`. */
  readonly env: unknown;
  /** What a handler has thrown, once Hono has made a page of it. */
  readonly error: Error | undefined;
  /** Whether there is a response already. */
  readonly finalized: boolean;
  /** The response so far. */
  res: Response;
}

/** A middleware for Hono: give it to `app.use`, or put it before a handler. */
export interface HonoMiddleware {
  /** Answers a request, or has Hono do so. */
  (c: HonoContext, next: () => Promise<void>): Promise<Response | undefined>;
  /** Tells the plugins that a shutdown begins. */
  readonly drain: () => void;
  /** Closes the plugins, the last one first. Calling it again does nothing. */
  readonly close: () => Promise<void>;
}

/** What the parts on one app have in common while a request is handled. */
class Visit extends Context {
  readonly c: HonoContext;
  /** Whether one of them, and not Hono, has answered. */
  isAnswered = false;

  constructor(c: HonoContext) {
    super(c.req.raw, infoOf(c.env), c);
    this.c = c;
  }
}

const visits = new WeakMap<HonoContext, Visit>();

/**
 * Makes a middleware for Hono out of modules of the kit, all at once or one by
 * one: the parts on an app share what they know of a request, and keep their
 * values in Hono's `c`, so that `getAuth(c)` is its auth.
 *
 * Error pages stay Hono's, except where it would answer an `AuthError` with a
 * 500: that has an answer of its own. A thrown `Response` is the response.
 *
 * @param parts Plugins, middlewares and guards, the outermost first; tracing
 * wraps the others wherever it stands.
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
  const host = createHost({ plugins: toPlugins(parts), recover });
  const middleware = async (
    c: HonoContext,
    next: () => Promise<void>,
  ): Promise<Response | undefined> => {
    let context = visits.get(c);
    if (context === undefined) visits.set(c, context = new Visit(c));
    let isPassed = false;
    const response = await visit(host, context, () => {
      isPassed = true;
      return pass(context, next);
    });
    if (!isPassed) context.isAnswered = true;
    // Hono adds what headers were set before, but by a new response, which one
    // that switches protocols can't become.
    if (!c.finalized && response.status !== 101) return response;
    if (response !== c.res) replaceResponse(c, response);
    return undefined;
  };
  const { drain, close } = host.app;
  return Object.assign(middleware, { drain, close });
}

function infoOf(env: unknown): ConnectionInfo | undefined {
  return typeof env === "object" && env !== null && "remoteAddr" in env
    ? env as ConnectionInfo
    : undefined;
}

/**
 * Has Hono go on. An error never comes back from there but as a page; if Hono
 * had no better one than a 500, the parts get to see the error itself.
 */
async function pass(
  context: Visit,
  next: () => Promise<void>,
): Promise<Response> {
  const { c } = context;
  await next();
  if (!context.isAnswered) noteRoute(c);
  if (c.error !== undefined && c.res.status >= 500) throw c.error;
  if (c.req.raw.method === "HEAD") await dropBody(c);
  return c.res;
}

/**
 * Hono answers HEAD as GET and leaves the body unread, so that a stream would
 * never know that it is over, nor its trace.
 */
async function dropBody(c: HonoContext): Promise<void> {
  const { res } = c;
  if (res.body === null || res.body.locked) return;
  replaceResponse(c, new Response(null, res));
  await res.body.cancel();
}

/** The route of the request, unless that is one for everything. */
function noteRoute({ req }: HonoContext): void {
  const root = currentScope()?.span?.root;
  if (root === undefined) return;
  const { routePath } = req;
  if (routePath === undefined || /^\/?\*?$/.test(routePath)) return;
  root.setAttribute("http.route", routePath);
}

/** Otherwise it would get the headers of the present one. */
function replaceResponse(c: { res: unknown }, response: Response): void {
  c.res = undefined;
  c.res = response;
}

/** Answers an error that no part has answered with Hono's page for it. */
function recover(error: unknown, _request: Request, context: Context) {
  if (!(context instanceof Visit) || error !== context.c.error) {
    return recoverResponse(error);
  }
  currentScope()?.span?.error(error);
  return context.c.res;
}
