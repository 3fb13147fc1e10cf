/**
 * The data of a connection, and how its subscriptions end.
 *
 * @module
 */

import type { SpanOpener } from "../../core/observed_span.ts";
import { currentScope } from "../../core/request_scope.ts";
import type { ServerWebSocket } from "../../core/socket/websocket.ts";

/** Data of a connection. */
export interface WSConnectionData {
  /** The controllers that abort the running subscriptions, by id. */
  subscriptions: Map<string, AbortController>;
  /** The `ctx` of handlers. */
  // deno-lint-ignore no-explicit-any -- applications type their own context
  ctx: any;
  /** A copy of the request that opened the connection. */
  originalRequest?: Request;
}

/** A connection of a router. */
export type Socket = ServerWebSocket<WSConnectionData>;

/**
 * Returns the bytes that wait to be sent. Bun's sockets have a method for it.
 */
export function unsent(ws: Socket & { getBufferedAmount?(): number }): number {
  return ws.bufferedAmount ?? ws.getBufferedAmount?.() ?? 0;
}

/**
 * Subscriptions run after the request that opened their socket. Each has its
 * own trace, with that request as parent.
 */
const openers = new WeakMap<WSConnectionData, SpanOpener>();

/** Remembers the current span for the subscriptions of a connection. */
export function rememberSpan(data: WSConnectionData): void {
  const span = currentScope()?.span;
  if (span !== undefined) openers.set(data, span.continuation());
}

/** Returns the opener of spans below the request that opened a connection. */
export function spanOpenerOf(data: WSConnectionData): SpanOpener | undefined {
  return openers.get(data);
}

/** How a subscription ended, in `app.rpc.end` of its span. */
export type SubscriptionEnd =
  /** The generator has returned. */
  | "completed"
  /** The procedure failed. */
  | "failed"
  /** The position is no longer in the channel's history. */
  | "gap"
  | "unsubscribed"
  | "session_ended"
  | "socket_closed"
  | "shutdown";

/** The reason of the signal of a subscription that was stopped. */
export class Stopped extends DOMException {
  /** The value for the span. */
  readonly end: SubscriptionEnd;
  /** The close code of its socket, if that has closed. */
  readonly closeCode: number | undefined;

  /** Creates a reason, with a text for the procedure. */
  constructor(end: SubscriptionEnd, message: string, closeCode?: number) {
    super(message, "AbortError");
    this.end = end;
    this.closeCode = closeCode;
  }
}
