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

import {
  currentScope,
  type OnAsked,
  WatchScope,
} from "../../core/request_scope.ts";

/** The scope that a socket's subscription runs in. */
export class SubscriptionScope extends WatchScope {
  readonly #onStart: (eventId: string) => void;
  #channels = 0;
  #hasStarted = false;

  /**
   * Creates a scope inside the current one.
   *
   * @param onStart Called at most once, with the position.
   * @param onAsked Called when its code asks for the user.
   */
  constructor(onStart: (eventId: string) => void, onAsked?: OnAsked) {
    super(onAsked);
    this.#onStart = onStart;
  }

  /** Counts a channel. Returns a function that receives its position. */
  addChannel(): (eventId: string) => void {
    this.#channels++;
    return (eventId) =>
      // If the handler subscribes to several channels, the id of one isn't a
      // position of all.
      queueMicrotask(() => {
        if (this.#hasStarted || this.isOver || this.#channels !== 1) return;
        this.start();
        this.#onStart(eventId);
      });
  }

  /** Marks the position as known. Later ones are ignored. */
  start(): void {
    this.#hasStarted = true;
  }
}

/**
 * Returns a function that receives the position of a channel's subscription, if
 * it can resume from there, because its handler passes `lastEventId` on. Must
 * be called synchronously in the handler.
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
