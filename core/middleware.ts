import type { RequestContext } from "./context.ts";
import { checkResponse, isResponse } from "./http/message.ts";
import { type MaybePromise, whenDone } from "./promises.ts";
import { currentScope, type RequestScope, runWithin } from "./request_scope.ts";

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

/** A {@linkcode Next} that returns the response itself, and throws, if nothing waits. */
export type DirectNext = () => MaybePromise<Response>;

/**
 * A middleware that makes nothing wait. It calls `next` at most once, in the
 * request's scope, and returns a response whose body is unread.
 */
export type DirectMiddleware<C extends RequestContext = RequestContext> = (
  request: Request,
  context: C,
  next: DirectNext,
) => MaybePromise<Response>;

const directMiddlewares = new WeakSet<object>();

/** Marks a middleware, so that chains call it with a {@linkcode DirectNext}. */
export function acceptDirect<C extends RequestContext>(
  middleware: DirectMiddleware<C>,
): Middleware<C> {
  directMiddlewares.add(middleware);
  return middleware;
}

/** Begins like the keys of guards, so that `readGuards()` rejects it. */
const UNCALLED = "guard that must be called";

/**
 * Marks a function that creates a guard or a plugin. `readGuards()` then rejects
 * one that is spread without a call, as in `{ ...requireAuth }`. Otherwise the
 * route would have no guard.
 */
export function refuseUncalled(make: object): void {
  Object.defineProperty(make, UNCALLED, { value: undefined, enumerable: true });
}

/** Whether a function was marked by {@linkcode refuseUncalled}. */
export function isUncalled(make: object): boolean {
  return Object.hasOwn(make, UNCALLED);
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
  if (directMiddlewares.has(middleware)) {
    const direct = middleware as DirectMiddleware<C>;
    return (request, context, end) =>
      direct(request, context, () => rest(request, context, end));
  }
  return (request, context, end) => {
    const scope = currentScope();
    let isCalled = false;
    const response = middleware(request, context, () => {
      if (isCalled) {
        throw new Error(
          "Cannot call next() twice: a middleware gets one response a request",
        );
      }
      isCalled = true;
      return proceed(rest, scope, request, context, end);
    });
    return whenDone(response, checkReturned, request);
  };
}

function checkReturned(response: Response, request: Request): Response {
  return checkResponse(
    response,
    request,
    "a middleware must return",
    (value) => value === undefined ? "; return next()" : "",
  );
}

/** Runs the rest of a chain. Its every failure is a rejection. */
function proceed<C extends RequestContext, E>(
  rest: Chain<C, E>,
  scope: RequestScope | undefined,
  request: Request,
  context: C,
  end: E,
): Promise<Response> {
  const begun = scope?.requestScope;
  let response: MaybePromise<Response>;
  try {
    response = runWithin(begun, scope, rest, request, context, end);
  } catch (error) {
    response = Promise.reject(error);
  }
  // The middleware may add headers, and then return or throw the response.
  const give = () => {
    if (begun !== undefined) begun.plainResponse = undefined;
  };
  if (isResponse(response)) {
    give();
    return Promise.resolve(response);
  }
  // A middleware that doesn't await it must not cause an unhandled rejection.
  response.then(give, () => {});
  return response;
}
