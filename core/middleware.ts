import type { RequestContext } from "./context.ts";
import { checkResponse, isResponse } from "./http/is_response.ts";
import { type MaybePromise, whenDone } from "./maybe_async.ts";

/** Runs the rest of the chain and returns its response. */
export type Next = () => Promise<Response>;

/**
 * Code that wraps every request. It returns its own response, or calls `next` once
 * and returns that response, changed or not.
 */
export interface Middleware<C extends RequestContext = RequestContext> {
  (request: Request, context: C, next: Next): Response | Promise<Response>;
  /**
   * Whether it wraps all other middlewares, wherever it was registered. It also
   * sees the error pages of errors that are thrown inside.
   */
  readonly outermost?: boolean;
}

/** The end of a chain, which answers if every middleware calls `next`. */
export type Handler<C extends RequestContext = RequestContext> = (
  request: Request,
  context: C,
) => Response | Promise<Response>;

/** Middlewares as one function. `end` is the handler inside. */
export type Chain<C extends RequestContext, E = void> = (
  request: Request,
  context: C,
  end: E,
) => MaybePromise<Response>;

/**
 * Composes middlewares into one function. If nothing inside is asynchronous, it
 * returns the response itself, and throws synchronously.
 *
 * @param middlewares The middlewares, outermost first.
 * @param inner The handler inside.
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
        checkResponse(
          response,
          request,
          "a middleware must return",
          (value) => value === undefined ? "; return next()" : "",
        ),
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
  // A middleware that doesn't await it must not cause an unhandled rejection.
  response.catch(() => {});
  return response;
}
