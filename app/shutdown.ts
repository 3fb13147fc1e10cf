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
 * @module
 */

import type { ConnectionInfo } from "../core/context.ts";
import { isThenable } from "../core/maybe_async.ts";

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
    let isWaiting = false;
    try {
      const response = handler(request, info);
      isWaiting = isThenable(response);
      return isWaiting ? Promise.resolve(response).finally(end) : response;
    } finally {
      if (!isWaiting) end();
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
