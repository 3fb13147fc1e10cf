import type { RequestContext } from "./context.ts";
import { isResponse } from "./http/is_response.ts";
import { kindOf } from "./check/show.ts";
import { pathOf } from "./path.ts";

/** Runs the rest of the chain and gives its response. */
export type Next = () => Promise<Response>;

/**
 * Code around every request. It may answer by itself, or call `next` once and
 * return that response, changed or not.
 */
export interface Middleware<C extends RequestContext = RequestContext> {
  (request: Request, context: C, next: Next): Response | Promise<Response>;
  /**
   * Runs before all middlewares that aren't `outermost`, wherever it was
   * registered, and sees the error pages of what throws inside.
   */
  readonly outermost?: boolean;
}

/** The end of a chain: what answers when every middleware has called `next`. */
export type Handler<C extends RequestContext = RequestContext> = (
  request: Request,
  context: C,
) => Response | Promise<Response>;

/**
 * Joins middlewares into one. The first of the list is the outermost.
 *
 * @param middlewares The middlewares, outermost first.
 * @returns A middleware that runs them all.
 *
 * @example
 * ```ts
 * import { compose, Context } from "@quartet/kit/app";
 *
 * const greet = compose([
 *   async (_request, _context, next) => {
 *     const response = await next();
 *     response.headers.set("x-greeting", "hello");
 *     return response;
 *   },
 * ]);
 * const request = new Request("http://localhost/");
 * const response = await greet(
 *   request,
 *   new Context(request),
 *   () => Promise.resolve(new Response("hi")),
 * );
 * console.assert(response.headers.get("x-greeting") === "hello");
 * ```
 */
export function compose<C extends RequestContext>(
  middlewares: readonly Middleware<C>[],
): Middleware<C> {
  return (request, context, next) => {
    const run = (index: number): Promise<Response> => {
      const middleware = middlewares[index];
      if (middleware === undefined) return next();
      let called = false;
      return call(middleware, request, context, () => {
        if (called) {
          throw new Error(
            "Cannot call next() twice: a middleware gets one response a request",
          );
        }
        called = true;
        const response = run(index + 1);
        // A middleware that doesn't wait for it must not end the process.
        response.catch(() => {});
        return response;
      });
    };
    return run(0);
  };
}

/** `async`, so that what a middleware throws at once is a rejection too. */
async function call<C extends RequestContext>(
  middleware: Middleware<C>,
  request: Request,
  context: C,
  next: Next,
): Promise<Response> {
  const response = await middleware(request, context, next);
  if (isResponse(response)) return response;
  throw new TypeError(
    `Cannot answer ${request.method} ${
      pathOf(request.url)
    }: a middleware must return a Response, received ${kindOf(response)}`,
  );
}
