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
import type { RequestContext } from "./context.ts";
import { isResponse } from "./internal/is_response.ts";

/** The part of an application that a span belongs to. */
export type Layer =
  | "request"
  | "routing"
  | "data"
  | "forms"
  | "signals"
  | "rpc"
  | "database"
  | "auth"
  | "islands"
  | "build"
  | "errors"
  | "custom";

/** A value that a span keeps under an attribute's name. */
export type AttributeValue = string | number | boolean;

/** Named values of a span or an event. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/**
 * A running span, as far as the host and the modules beside the tracer know
 * it. They open children on it and never ask who keeps the records.
 */
export interface ObservedSpan {
  /** The trace that this span is part of: 32 lower-case hex digits. */
  readonly traceId: string;
  /** The span of the request that this one is part of. */
  readonly root: ObservedSpan;
  /** Opens a span below this one. */
  child(name: string, layer: Layer, attributes?: Attributes): ObservedSpan;
  /** Keeps a value under a name. */
  setAttribute(key: string, value: AttributeValue): void;
  /** Notes that something happened now. */
  event(name: string, attributes?: Attributes): void;
  /** Marks the span as failed and keeps what was thrown. */
  error(error: unknown): void;
  /** Ends the span; every later call on it does nothing. */
  end(): void;
  /**
   * Gives a function that opens spans for work which this one has started and
   * which may outlive it, such as what runs on a socket. Each is the first of a
   * record of its own, in the same trace and with this span as its parent.
   */
  continuation(): SpanOpener;
}

/** Opens a span, now or at any later time. */
export type SpanOpener = (
  name: string,
  layer: Layer,
  attributes?: Attributes,
) => ObservedSpan;

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
export class Scope {
  /** The scope around this one. */
  readonly outer: Scope | undefined;
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
    outer?: Scope,
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
   * @returns Whether the scopes around depend on the answer as well.
   */
  asked(_isOwn: boolean): boolean {
    this.isPersonal = true;
    return true;
  }
}

const storage = new AsyncLocalStorage<Scope>();

/** The scope of the code that asks, or `undefined` outside of any request. */
export function currentScope(): Scope | undefined {
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

/** Runs `fn` in `scope`, with everything it starts and awaits. */
export function runInScope<T>(scope: Scope, fn: () => T): T {
  return storage.run(scope, fn);
}

/** Makes `scope` the current one for the rest of the running function. */
export function enterScope(scope: Scope): void {
  storage.enterWith(scope);
}

/**
 * Runs `fn` inside a child of the span that is open here, and ends that child
 * when `fn` has returned or its promise has settled. Where nothing is traced
 * it only runs `fn`, at the cost of one look-up.
 *
 * What `fn` throws is recorded on the span and thrown on; a thrown `Response`
 * counts as a result, not as a failure.
 *
 * @param name What is being done, such as `loader:country`.
 * @param layer The part of the application that does it.
 * @param fn What to run. It gets the span, or `undefined` if there is none.
 * @returns What `fn` returns; a promise if that is a promise.
 *
 * @example
 * ```ts
 * import { observe } from "@quartet/kit/app";
 *
 * const total = observe("sum", "custom", (span) => {
 *   span?.setAttribute("count", 3);
 *   return 1 + 2 + 3;
 * });
 * console.assert(total === 6);
 * ```
 */
export function observe<T>(
  name: string,
  layer: Layer,
  fn: (span: ObservedSpan | undefined) => T,
): T {
  const scope = storage.getStore();
  const parent = scope?.span;
  if (parent === undefined) return fn(undefined);
  return runSpan(parent.child(name, layer), fn);
}

/**
 * Runs `fn` with `span` as the open one and ends the span when `fn` is done.
 * A result with a `then` method is awaited and becomes a promise, because a
 * lazy query only starts once somebody calls it: here, once, inside the span.
 */
export function runSpan<S extends ObservedSpan, T>(
  span: S,
  fn: (span: S) => T,
): T {
  const scope = new Scope(undefined, span, storage.getStore());
  let result: T;
  try {
    result = storage.run<T, [S]>(scope, fn, span);
  } catch (error) {
    fail(scope, span, error);
    throw error;
  }
  if (isThenable(result)) {
    const promise = result.then === Promise.prototype.then
      ? result
      : storage.run(scope, () => Promise.resolve(result));
    return promise.then(
      (value) => {
        end(scope, span);
        return value;
      },
      (error) => {
        fail(scope, span, error);
        throw error;
      },
    ) as T;
  }
  end(scope, span);
  return result;
}

function end(scope: Scope, span: ObservedSpan): void {
  span.end();
  scope.span = undefined;
}

function fail(scope: Scope, span: ObservedSpan, error: unknown): void {
  if (!isResponse(error)) span.error(error);
  end(scope, span);
}

/** Whether something is a promise, or a lazy one that starts when awaited. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null &&
    typeof (value as { then?: unknown }).then === "function";
}
