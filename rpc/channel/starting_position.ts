/**
 * Sends a client the position at which its subscription begins. So the client can
 * resume even if the connection breaks before the first message.
 *
 * ```
 * socket ──► SubscriptionScope ──► handler ──► channel.subscribe()
 *   ▲                                                   │
 *   └───── started: the newest message so far ◄─────────┘
 * ```
 *
 * @module
 */

import { currentScope } from "../../core/request_scope.ts";
import { type OnAsked, WatchScope } from "../../core/watch_scope.ts";

/** The scope that a socket's subscription runs in. */
export class SubscriptionScope extends WatchScope {
  readonly #onStart: (eventId: string) => void;
  #channels = 0;
  #hasStarted = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onStart Called at most once, with the position.
   * @param onAsked Called when code in it asks for the user.
   */
  constructor(onStart: (eventId: string) => void, onAsked?: OnAsked) {
    super(onAsked);
    this.#onStart = onStart;
  }

  /** Counts a channel. Returns a function that takes its position. */
  addChannel(): (eventId: string) => void {
    this.#channels++;
    return (eventId) =>
      // The handler may subscribe to another channel: then an id of one says
      // nothing about the other.
      queueMicrotask(() => {
        if (this.#hasStarted || this.isOver || this.#channels !== 1) return;
        this.start();
        this.#onStart(eventId);
      });
  }

  /** Marks the position as known. No other one will be taken any more. */
  start(): void {
    this.#hasStarted = true;
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
