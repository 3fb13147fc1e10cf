/**
 * Tells a client where its subscription begins, so that it can resume even if
 * the connection breaks before the first message.
 *
 * ```
 * socket ──► SubscriptionScope ──► handler ──► channel.subscribe()
 *   ▲                                                   │
 *   └───── started: the newest message so far ◄─────────┘
 * ```
 *
 * @module
 */

import { currentScope, RequestScope } from "../../core/request_scope.ts";

/** The scope that a socket's subscription runs in. */
export class SubscriptionScope extends RequestScope {
  readonly #onStart: (eventId: string) => void;
  #channels = 0;
  #isOver = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onStart Called at most once, with the position.
   */
  constructor(onStart: (eventId: string) => void) {
    super(undefined, undefined);
    this.#onStart = onStart;
  }

  override get isOver(): boolean {
    return this.#isOver;
  }

  /** Counts a channel. Returns a function that takes its position. */
  addChannel(): (eventId: string) => void {
    this.#channels++;
    return (eventId) =>
      // The handler may subscribe to another channel: then an id of one says
      // nothing about the other.
      queueMicrotask(() => {
        if (this.#isOver || this.#channels !== 1) return;
        this.end();
        this.#onStart(eventId);
      });
  }

  /** Ends the scope: no position will be taken any more. */
  end(): void {
    this.#isOver = true;
  }
}

/**
 * Returns a function that takes the position of a channel's subscription, if
 * the subscription may resume from there: its handler passes the client's
 * `lastEventId` on. Must be called in the handler's own call.
 */
export function startOf(
  options: object,
): ((eventId: string) => void) | undefined {
  if (!("lastEventId" in options)) return undefined;
  let scope = currentScope();
  while (scope !== undefined && !(scope instanceof SubscriptionScope)) {
    scope = scope.outer;
  }
  return scope?.addChannel();
}
