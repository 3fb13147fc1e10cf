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
 * they run. Then its plugins wait for their own work, such as subscriptions. Under
 * `serve()` all of this has the deadline of the server.
 *
 * @module
 */

import { type Deadline, limitClose, WorkCounter } from "../core/closing.ts";
import type { ConnectionInfo } from "../core/context.ts";
import { errorResponse } from "../core/error_response.ts";
import { isThenable } from "../core/promises.ts";
import { currentScope, type RequestScope } from "../core/request_scope.ts";

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
   * connections. It waits until the deadline of {@linkcode limitClose}. It doesn't wait
   * for requests that it is called from, which would wait for themselves. Later
   * calls wait for the first one.
   */
  end(close: () => Promise<void>): Promise<void> {
    for (const scope of outerScopes(currentScope())) this.#callers.add(scope);
    this.#onEnd?.();
    return this.#ending ??= this.#begin(close);
  }

  async #begin(close: () => Promise<void>): Promise<void> {
    this.#phase = "ending";
    await limitClose((deadline) => this.#end(deadline, close));
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
