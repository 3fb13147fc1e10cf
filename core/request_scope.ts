/**
 * The request scope: what code anywhere below a request handler can find out
 * about the request it runs for, without being handed anything.
 *
 * One `AsyncLocalStorage` for the whole kit. It holds the request's context
 * and the span that is open at this point of the code, so a child span finds
 * its parent under any number of concurrent requests.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { ConnectionInfo, RequestContext } from "./context.ts";
import type { ObservedSpan } from "./observed_span.ts";
import type { RequestSession } from "./request_session.ts";

const NO_COOKIES: readonly string[] = Object.freeze([]);

/**
 * The request that code at one point runs for, the span that is open there,
 * and what the modules have noted about the request.
 *
 * A scope outlives its request: timers and promises that were started in it
 * keep it, and so does the runtime until its next full garbage collection. So a
 * scope drops its span once the span has ended. It refers to the scope around it
 * instead of copying from it.
 */
export class RequestScope {
  /** The scope around this one. */
  readonly outer: RequestScope | undefined;
  /** The innermost shared computation that the code is part of. */
  readonly computation: object | undefined;
  /** Whether the response depends on who sent the request. */
  isPersonal = false;
  /**
   * Whether code outside this scope made it personal, such as a worker that was
   * started earlier. The affected part of the response is unknown.
   */
  isAskedElsewhere = false;
  /** Whether a guard refused the request. */
  isRefused = false;
  /** The form of the last guard refusal in this scope. */
  refusal:
    | { readonly status: number; readonly location: string | null }
    | undefined;
  /** The `Cache-Control` that the kit has added to a response without one. */
  givenCacheControl: string | undefined;
  /**
   * The names of the cookies that the kit's auth reads. Auth sets `isPersonal`
   * once code asks for the user.
   */
  ownCookies: readonly string[] = NO_COOKIES;
  /** The sessions that the request has brought. */
  sessions: RequestSession[] | undefined;
  /** The request that `span` was opened for, if it is one of a request. */
  tracedRequest: Request | undefined;
  /** The connection of the request that begins here without a context. */
  info: ConnectionInfo | undefined;
  readonly #context: RequestContext | undefined;
  #span: ObservedSpan | undefined;

  /**
   * Creates a scope for {@linkcode runInScope} to enter.
   *
   * @param context The context of a request, if one begins here.
   * @param span The span that is open from here on, if another one is.
   * @param outer The outer scope, or `undefined` for none. Default: the current
   * scope.
   * @param computation The computation that begins here, if one does whose
   * result several callers share.
   */
  constructor(
    context: RequestContext | undefined,
    span: ObservedSpan | undefined,
    outer?: RequestScope,
    computation?: object,
  ) {
    this.#context = context;
    this.#span = span;
    if (arguments.length < 3) outer = currentScope();
    // A job that restarts itself from within its span would otherwise keep
    // one scope for each run.
    while (outer !== undefined && outer.isOver) outer = outer.outer;
    this.outer = outer;
    this.computation = computation ?? outer?.computation;
  }

  /** The context of the request, if a host gave one. */
  get context(): RequestContext | undefined {
    return this.#context ?? this.outer?.context;
  }

  /** The context of the request that begins with this scope, if any. */
  get ownContext(): RequestContext | undefined {
    return this.#context;
  }

  /**
   * The span that is open here: the scope's own until it ends, then the one of
   * the scope around. A host's scope gets its own from the middleware that
   * opens the root span.
   */
  get span(): ObservedSpan | undefined {
    return this.#span ?? this.outer?.span;
  }

  set span(span: ObservedSpan | undefined) {
    this.#span = span;
  }

  /** Whether inner scopes no longer need this one. */
  get isOver(): boolean {
    return this.#span === undefined && this.#context === undefined;
  }

  /**
   * Notes that code here asks who sent a request.
   *
   * @param _isOwn Whether the request is anonymous, and began in this scope or
   * an inner one.
   * @param _session The session that the code got, if known.
   * @returns Whether the scopes around depend on the answer as well.
   */
  asked(_isOwn: boolean, _session?: RequestSession): boolean {
    this.isPersonal = true;
    return true;
  }
}

const storage = new AsyncLocalStorage<RequestScope>();

/** The scope of the code that asks, or `undefined` outside of any request. */
export function currentScope(): RequestScope | undefined {
  return storage.getStore();
}

/**
 * The context of the request that is being handled, for code that is handed
 * none, such as a handler of another framework.
 *
 * @throws {TypeError} If no request is being handled.
 *
 * @example
 * ```ts
 * import { createApp, currentContext } from "@quartet/kit/app";
 *
 * const greet = () => `hello ${currentContext().get("name")}`;
 * const app = createApp({ routes: [{ path: "/", loader: greet }] });
 * app.use((_request, context, next) => {
 *   context.set("name", "ada");
 *   return next();
 * });
 *
 * const response = await app.fetch(new Request("http://localhost/"));
 * console.assert(await response.json() === "hello ada");
 * ```
 */
export function currentContext(): RequestContext {
  const context = storage.getStore()?.context;
  if (context !== undefined) return context;
  throw new TypeError(
    "Cannot get the current context: this code must run while a request is handled, received a call outside of any",
  );
}

/**
 * Returns the scope around a request that a host is given.
 *
 * In Deno, `import()` in the code of a request leaves the async context of that
 * request to all that the server gets afterwards. Only a request that a server
 * has handed over has a promise of its completion, and code around it has the
 * same one. Any other request is a call from within the current scope.
 */
export function scopeAround(
  { info }: RequestContext,
): RequestScope | undefined {
  const current = currentScope();
  const completed = current && info?.completed;
  if (completed === undefined) return current;
  for (let scope = current; scope !== undefined; scope = scope.outer) {
    const { info = scope.ownContext?.info } = scope;
    if (info?.completed === completed) return current;
  }
  return undefined;
}

/**
 * Runs `fn` outside of all requests. The kit's own `import()` does, see
 * {@linkcode scopeAround}.
 */
export const runOutside: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot();

/** Runs `fn` in `scope`, with everything it starts and awaits. */
export function runInScope<T, A extends unknown[]>(
  scope: RequestScope,
  fn: (...args: A) => T,
  ...args: A
): T {
  return storage.run(scope, fn, ...args);
}

/** Makes `scope` the current one for the rest of the running function. */
export function enterScope(scope: RequestScope): void {
  storage.enterWith(scope);
}
