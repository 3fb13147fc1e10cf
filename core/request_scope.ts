/**
 * The request scope gives code below a request handler access to its request,
 * without parameters.
 *
 * The whole kit uses one `AsyncLocalStorage`. It holds the request's context and
 * the current span, so a child span finds its parent under any number of
 * concurrent requests.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { ConnectionInfo, RequestContext } from "./context.ts";
import type { ObservedSpan } from "./observed_span.ts";
import type { RequestSession } from "./request_session.ts";

// Declared here: `node:process` would be another module to load.
declare const process: { readonly versions: { readonly node: string } };

// All modules of the server import this one.
if (Promise.withResolvers === undefined) {
  throw new TypeError(
    `Cannot load @quartet/kit: Node must be version 22 or newer, received ${process.versions.node}`,
  );
}

const NO_COOKIES: readonly string[] = Object.freeze([]);

/**
 * The request that code runs for, the current span, and marks that the modules set.
 *
 * A scope outlives its request: timers and promises that started in it keep it, and
 * so does the runtime until its next full garbage collection. So a scope drops its
 * span when the span ends, and refers to the outer scope instead of copying it.
 */
export class RequestScope {
  /** The outer scope. */
  readonly outer: RequestScope | undefined;
  /** The innermost shared computation around the code. */
  readonly computation: object | undefined;
  /** Whether the response depends on who sent the request. */
  isPersonal = false;
  /**
   * Whether code outside this scope made it personal, such as an earlier worker. The
   * affected part of the response is unknown.
   */
  isAskedElsewhere = false;
  /** Whether the request changes nothing, for example because a guard refused it. */
  isIdle = false;
  /** The form of the last guard refusal in this scope. */
  refusal:
    | { readonly status: number; readonly location: string | null }
    | undefined;
  /** The `Cache-Control` that the kit has added to a response without one. */
  givenCacheControl: string | undefined;
  /**
   * The response that the host has created from a loader's data, until code of the
   * application gets it. Its one header is `Content-Type`.
   */
  plainResponse: Response | undefined;
  /**
   * The names of the cookies that the kit's auth reads. Auth sets `isPersonal`
   * once code asks for the user.
   */
  ownCookies: readonly string[] = NO_COOKIES;
  /** The sessions of the request. */
  sessions: RequestSession[] | undefined;
  /** The request of `span`, if it is the span of a request. */
  tracedRequest: Request | undefined;
  /** Closes the socket that Deno opens for the request, and returns its response. */
  refuseUpgrade: (() => Response) | undefined;
  /** The index in the host's list of running requests. */
  runningIndex = -1;
  /** The connection of a request that starts here without a context. */
  info: ConnectionInfo | undefined;
  readonly #context: RequestContext | undefined;
  #span: ObservedSpan | undefined;

  /**
   * Creates a scope for {@linkcode runInScope} to enter.
   *
   * @param context The context of a request, if one starts here.
   * @param span The current span, if it differs from the outer one.
   * @param outer The outer scope, or `undefined` for none. Default: the current
   * scope.
   * @param computation A computation that starts here, and whose result several
   * callers share.
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
    // Otherwise a job that restarts itself inside its span would keep one scope per
    // run.
    while (outer !== undefined && outer.isOver) outer = outer.outer;
    this.outer = outer;
    this.computation = computation ?? outer?.computation;
  }

  /** The context of the request, if a host set one. */
  get context(): RequestContext | undefined {
    return this.#context ?? this.outer?.context;
  }

  /** The scope that the request started with, if a host set a context. */
  get requestScope(): RequestScope | undefined {
    return this.#context === undefined ? this.outer?.requestScope : this;
  }

  /** The context of the request that starts with this scope, if any. */
  get ownContext(): RequestContext | undefined {
    return this.#context;
  }

  /**
   * The current span: the scope's own until it ends, then the outer scope's. In a
   * host's scope, the middleware that opens the root span sets it.
   */
  get span(): ObservedSpan | undefined {
    return this.#span ?? this.outer?.span;
  }

  set span(span: ObservedSpan | undefined) {
    this.#span = span;
  }

  /** The scope that this one was entered in. The outer one may be further out. */
  get inside(): RequestScope | undefined {
    return this.outer;
  }

  /** Whether inner scopes no longer need this one. */
  get isOver(): boolean {
    return this.#span === undefined && this.#context === undefined;
  }

  /**
   * Notes that code here asks for the user of a request.
   *
   * @param _isOwn Whether the request is anonymous, and started in this scope or an
   * inner one.
   * @param _session The session that the code got, if known.
   * @returns Whether the outer scopes depend on the answer too.
   */
  asked(_isOwn: boolean, _session?: RequestSession): boolean {
    this.isPersonal = true;
    return true;
  }
}

const storage = new AsyncLocalStorage<RequestScope | undefined>();

/** Returns the current scope, or `undefined` outside a request. */
export function currentScope(): RequestScope | undefined {
  return storage.getStore();
}

/**
 * Returns the context of the current request, for code that doesn't get it as a
 * parameter, such as a handler of another framework.
 *
 * @throws {TypeError} If it is called outside a request.
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
    "Cannot get the current context: it must be called while a request is handled, received a call outside any request",
  );
}

/**
 * Returns the outer scope of a request that a host receives.
 *
 * In Deno, after an `import()` in the code of a request, later requests of the
 * server start in that request's async context. A request from a server has a
 * promise of its completion, and code around it has the same promise. Any other
 * request is a call from within the current scope.
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
 * Runs `fn` outside all requests. The kit uses it for `import()`, see
 * {@linkcode scopeAround}.
 */
export const runOutside: <T>(fn: () => T) => T = AsyncLocalStorage.snapshot();

/** Runs `fn` in `scope`, with everything that it starts and awaits. */
export function runInScope<T, A extends unknown[]>(
  scope: RequestScope | undefined,
  fn: (...args: A) => T,
  ...args: A
): T {
  return storage.run(scope, fn, ...args);
}

/**
 * Runs `fn` in `scope`, or in the current scope if that belongs to the same work. A
 * queue may call it in the scope of another request or call.
 *
 * @param begun The scope that the work has begun in. `undefined`: outside requests.
 */
export function runWithin<T, A extends unknown[]>(
  begun: RequestScope | undefined,
  scope: RequestScope | undefined,
  fn: (...args: A) => T,
  ...args: A
): T {
  let inner = currentScope();
  if (begun === undefined) inner = inner?.requestScope;
  else while (inner !== begun && inner !== undefined) inner = inner.inside;
  return inner === begun ? fn(...args) : runInScope(scope, fn, ...args);
}

/** Makes `scope` the current one for the rest of the running function. */
export function enterScope(scope: RequestScope): void {
  storage.enterWith(scope);
}

/**
 * Called when code in a scope asks for the user. See
 * {@linkcode RequestScope.asked}.
 *
 * @returns Whether the scopes around depend on the answer as well. `undefined`:
 * as in any scope.
 */
export type OnAsked = (
  isOwn: boolean,
  session?: RequestSession,
) => boolean | undefined;

/**
 * A scope that observes the code inside it: whether it asks for the user,
 * refuses the request, or reads cookies.
 */
export class WatchScope extends RequestScope {
  readonly #onAsked: OnAsked | undefined;
  #isOver = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onAsked Called before the scope is marked as personal.
   * @param computation The computation that this scope starts, if any.
   */
  constructor(onAsked?: OnAsked, computation?: object) {
    super(undefined, undefined, currentScope(), computation);
    this.#onAsked = onAsked;
  }

  override get isOver(): boolean {
    return this.#isOver;
  }

  override asked(isOwn: boolean, session?: RequestSession): boolean {
    if (this.#isOver) return true;
    return this.#onAsked?.(isOwn, session) ?? super.asked(isOwn, session);
  }

  /** Runs `fn` in the scope. */
  run<T>(fn: () => T): T {
    return runInScope(this, fn);
  }

  /** Ends the scope. Code that still runs inside no longer affects it. */
  end(): void {
    this.#isOver = true;
  }
}
