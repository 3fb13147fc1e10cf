/**
 * How a server stops:
 *
 * ```
 *            drain                 shutdownTimeout
 * serving ───────────► stopping ─────────────────────────► stopped
 *   readiness is 503     new requests get 503
 *   requests go on       handlers end, the fetcher closes, bodies are sent
 * ```
 *
 * A host waits for its own requests too, because other servers close it while
 * they run. Under `serve()` that wait has the deadline of the server.
 *
 * @module
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { ConnectionInfo } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import { isThenable } from "../core/promises.ts";
import { currentScope, type RequestScope } from "../core/request_scope.ts";

/** The default of `shutdownTimeout`, in seconds. */
export const SHUTDOWN_TIMEOUT = 10;

/** Counts work in progress, and waits until there is none. */
class WorkCounter {
  #count = 0;
  #whenIdle: (() => void) | undefined;

  readonly begin = (): void => void this.#count++;

  readonly end = (): void => {
    if (--this.#count === 0) this.#whenIdle?.();
  };

  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle = resolve;
      if (this.#count === 0) resolve();
    });
  }
}

/** The requests that a server has begun to answer. */
export class PendingRequests {
  readonly #handlers = new WorkCounter();
  readonly #responses = new WorkCounter();

  /** Runs a handler, and counts it until its response has been sent. */
  handle<I extends ConnectionInfo>(
    request: Request,
    info: I,
    handler: (request: Request, info: I) => Response | Promise<Response>,
  ): Response | Promise<Response> {
    const { begin, end } = this.#handlers;
    this.#responses.begin();
    info.completed?.then(this.#responses.end, this.#responses.end);
    begin();
    let promise: Promise<Response> | undefined;
    try {
      const response = handler(request, info);
      if (!isThenable(response)) return response;
      promise = Promise.resolve(response);
      promise.then(end, end);
      return promise;
    } finally {
      if (promise === undefined) end();
    }
  }

  /** Resolves when no handler runs. Responses may still be on their way. */
  handled(): Promise<void> {
    return this.#handlers.idle();
  }

  /** Resolves when all responses have been sent, bodies included. */
  sent(): Promise<void> {
    return this.#responses.idle();
  }
}

/** The deadline of a shutdown. */
export class Deadline {
  readonly #passed = Promise.withResolvers<true>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isOver = false;

  /**
   * Starts the timer, unless the deadline has passed. `Infinity` starts none.
   */
  start(ms: number): void {
    if (this.#isOver || ms === Infinity) return;
    this.#timer = setTimeout(() => this.pass(), ms);
  }

  /** Ends the timer early. */
  pass(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#passed.resolve(true);
  }

  /** Waits for some work. Returns whether the deadline came first. */
  async limits(work: Promise<unknown>): Promise<boolean> {
    return await Promise.race([work.then(() => false), this.#passed.promise]);
  }
}

const deadlines = new AsyncLocalStorage<Deadline>();

/** Runs `close`. Hosts that it closes wait for requests until this deadline. */
export function closeWithin<T>(deadline: Deadline, close: () => T): T {
  return deadlines.run(deadline, close);
}

/** The requests that a host has begun to answer, by their scopes. */
export class RunningScopes {
  readonly #scopes: RequestScope[] = [];
  /** The requests that `end()` was called from. */
  readonly #callers = new Set<RequestScope>();
  #ending: Promise<void> | undefined;
  #phase: "open" | "ending" | "ended" = "open";
  #onEnd: (() => void) | undefined;

  /**
   * Whether a new request must be refused. A call from within a running request
   * belongs to that request.
   */
  refuses(scope: RequestScope): boolean {
    if (this.#phase === "open") return false;
    return this.#phase === "ended" ||
      !outerScopes(scope).some((outer) => this.#has(outer));
  }

  /** Throws a `TypeError` if the host was closed. It would answer only 503. */
  checkOpen(): void {
    if (this.#phase === "open") return;
    throw new TypeError(
      "Cannot serve: the app must be open, received one that was closed; create another one",
    );
  }

  /** Adds a request, which runs until its response is known. */
  add(scope: RequestScope): void {
    scope.runningIndex = this.#scopes.push(scope) - 1;
  }

  #has(scope: RequestScope): boolean {
    return this.#scopes[scope.runningIndex] === scope;
  }

  /** Removes a request, by moving the last one into its place. */
  remove(scope: RequestScope): void {
    const last = this.#scopes.pop()!;
    if (last !== scope) {
      this.#scopes[scope.runningIndex] = last;
      last.runningIndex = scope.runningIndex;
    }
    this.#onEnd?.();
  }

  /** Removes a request once its response is known. */
  removeAfter(response: Promise<Response>, scope: RequestScope): void {
    const remove = () => this.remove(scope);
    response.then(remove, remove);
  }

  /**
   * Refuses new requests, waits until the others have ended, and calls `close`.
   * Then it waits until their responses are sent, so that the server finds idle
   * connections. It waits until the deadline of `closeWithin()`, or for
   * {@linkcode SHUTDOWN_TIMEOUT}. It doesn't wait for requests that it is called
   * from, which would wait for themselves. Later calls wait for the first one.
   */
  end(close: () => Promise<void>): Promise<void> {
    for (const scope of outerScopes(currentScope())) this.#callers.add(scope);
    this.#onEnd?.();
    return this.#ending ??= this.#begin(close);
  }

  async #begin(close: () => Promise<void>): Promise<void> {
    this.#phase = "ending";
    const outer = deadlines.getStore();
    await (outer === undefined
      ? limitedBy(SHUTDOWN_TIMEOUT, (deadline) => this.#end(deadline, close))
      : this.#end(outer, close));
  }

  async #end(deadline: Deadline, close: () => Promise<void>): Promise<void> {
    const isOther = (scope: RequestScope) => !this.#callers.has(scope);
    // Called after each request, so it mustn't visit all of them.
    const isIdle = () => !this.#scopes.some(isOther);
    const sent = new Map(
      this.#scopes.map((scope) => [scope, scope.ownContext?.info?.completed]),
    );
    if (!isIdle()) {
      const idle = new Promise<void>((resolve) => {
        this.#onEnd = () => isIdle() && resolve();
      });
      await deadline.limits(idle);
    }
    this.#phase = "ended";
    await close();
    for (const caller of this.#callers) sent.delete(caller);
    if (sent.size > 0) await deadline.limits(Promise.allSettled(sent.values()));
  }
}

/** Runs `work` with a deadline that starts at once. */
export async function limitedBy<T>(
  seconds: number,
  work: (deadline: Deadline) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline();
  deadline.start(seconds * 1_000);
  try {
    return await work(deadline);
  } finally {
    deadline.pass();
  }
}

/** Returns a scope and the scopes around it. */
function outerScopes(scope: RequestScope | undefined): RequestScope[] {
  const scopes: RequestScope[] = [];
  for (; scope !== undefined; scope = scope.outer) scopes.push(scope);
  return scopes;
}

/** Refuses new requests while the last ones finish. */
export function refuseRequest(): Response {
  return errorResponse(
    503,
    "SHUTTING_DOWN",
    "The server is shutting down",
    { connection: "close" },
  );
}
