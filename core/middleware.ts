import type { RequestContext } from "./context.ts";
import { checkResponse, isResponse } from "./http/is_response.ts";
import { type MaybePromise, whenDone } from "./maybe_async.ts";

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

/** Middlewares as one function. `end` is for what they are around. */
export type Chain<C extends RequestContext, E = void> = (
  request: Request,
  context: C,
  end: E,
) => MaybePromise<Response>;

/**
 * Joins middlewares into one function. It answers without a promise if nothing
 * in it waits, and throws what a middleware throws at once.
 *
 * @param middlewares The middlewares, outermost first.
 * @param inner What they are around.
 */
export function compose<C extends RequestContext, E>(
  middlewares: readonly Middleware<C>[],
  inner: Chain<C, E>,
): Chain<C, E> {
  return middlewares.reduceRight(
    (rest, middleware) => wrap(middleware, rest),
    inner,
  );
}

function wrap<C extends RequestContext, E>(
  middleware: Middleware<C>,
  rest: Chain<C, E>,
): Chain<C, E> {
  return (request, context, end) => {
    let isCalled = false;
    const response = middleware(request, context, () => {
      if (isCalled) {
        throw new Error(
          "Cannot call next() twice: a middleware gets one response a request",
        );
      }
      isCalled = true;
      return runNext(rest, request, context, end);
    });
    return whenDone(
      response,
      (response) =>
        checkResponse(response, request, "a middleware must return"),
    );
  };
}

/** Runs the rest of a chain for `next()`. Every failure is a rejection. */
function runNext<C extends RequestContext, E>(
  rest: Chain<C, E>,
  request: Request,
  context: C,
  end: E,
): Promise<Response> {
  let response: MaybePromise<Response>;
  try {
    response = rest(request, context, end);
  } catch (error) {
    response = Promise.reject(error);
  }
  if (isResponse(response)) return Promise.resolve(response);
  // A middleware that doesn't wait for it must not end the process.
  response.catch(() => {});
  return response;
}
