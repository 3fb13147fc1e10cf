import type { ServerWebSocket } from "../../core/socket/websocket.ts";

/** What belongs to one connection. */
export interface WSConnectionData {
  /** What aborts each running subscription, by its id. */
  subscriptions: Map<string, AbortController>;
  /** What handlers get as `ctx`. */
  // deno-lint-ignore no-explicit-any -- applications type their own context
  ctx: any;
  /** A copy of the request that opened the connection, made before it did. */
  originalRequest?: Request;
}

/** A connection of a router. */
export type Socket = ServerWebSocket<WSConnectionData>;

/** Bytes that wait to be sent. Bun's own sockets tell it by a method. */
export function unsent(ws: Socket & { getBufferedAmount?(): number }): number {
  return ws.bufferedAmount ?? ws.getBufferedAmount?.() ?? 0;
}
