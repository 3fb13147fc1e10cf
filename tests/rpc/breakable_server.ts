/**
 * A router's server whose sockets a test can close.
 *
 * @module
 */

import type { Router } from "@quartet/kit/rpc";
import { serveRouter, type TestServer } from "./helpers.ts";

/** A server that tracks its sockets. */
export interface BreakableServer extends TestServer {
  /** Number of sockets that have sent a message. */
  readonly opened: number;
  /** Closes all sockets. Clients reconnect. */
  breakSockets(): void;
}

export async function serveBreakable(
  { handler, websocket }: Pick<Router, "handler" | "websocket">,
): Promise<BreakableServer> {
  type Socket = Parameters<typeof websocket.message>[0];
  const sockets = new Set<Socket>();
  let opened = 0;
  const server = await serveRouter({
    handler,
    websocket: {
      ...websocket,
      message(ws, message) {
        if (!sockets.has(ws)) opened++;
        sockets.add(ws);
        websocket.message(ws, message);
      },
      close(ws, code, reason) {
        sockets.delete(ws);
        websocket.close?.(ws, code, reason);
      },
    },
  });
  return {
    ...server,
    get opened() {
      return opened;
    },
    breakSockets() {
      for (const ws of sockets) ws.close(1011, "broken by a test");
    },
  };
}
