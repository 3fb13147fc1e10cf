/**
 * WebSocket requests on Node. The event `upgrade` has only the incoming message
 * and the raw connection. So this creates a `Request` and writes the response.
 *
 * @module
 */

import type { EventEmitter } from "node:events";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { isHost } from "../../core/http/origin.ts";
import type { HostSocket, OpenSocket } from "./host_socket.ts";

/** The part of a `WebSocketServer` of the package `ws` that is used. */
export interface NodeSocketServer extends EventEmitter {
  handleUpgrade(
    incoming: IncomingMessage,
    connection: Duplex,
    head: Uint8Array,
    done: (socket: OpenSocket & EventEmitter) => void,
  ): void;
}

/**
 * Whether a request asks for a WebSocket (RFC 6455, section 4.1). Node emits
 * `upgrade` for all requests with that header, such as a POST that offers
 * HTTP/2. The end of its body is unknown there.
 */
export function isWebSocketRequest(
  { method, headers }: IncomingMessage,
): boolean {
  return method === "GET" &&
    /(^|,)[ \t]*websocket[ \t]*(,|$)/i.test(headers.upgrade ?? "");
}

/** Creates a `Request`, or returns `undefined` if its target is malformed. */
export function nodeRequest(
  { url = "/", rawHeaders }: IncomingMessage,
  connection: Duplex & { readonly encrypted?: boolean },
): Request | undefined {
  try {
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
    }
    const scheme = connection.encrypted === true ? "https" : "http";
    const host = headers.get("host") ?? "localhost";
    if (!isHost(host)) return undefined;
    // Not resolved against a base: a path may begin with two slashes.
    const target = url.startsWith("/") ? `${scheme}://${host}${url}` : url;
    return new Request(target, { headers });
  } catch {
    return undefined;
  }
}

/** Silence before the system probes a client of a socket, in milliseconds. */
const KEEP_ALIVE = 30_000;

/** Performs the handshake, with the headers of the app's response. */
export function upgradeNode(
  server: NodeSocketServer,
  incoming: IncomingMessage,
  connection: Duplex & Partial<Pick<Socket, "setKeepAlive">>,
  head: Uint8Array,
  headers: Headers,
  socket: HostSocket,
): void {
  const lost = () => socket.closed(1006, "");
  if (connection.destroyed) return lost();
  const addHeaders = (lines: string[]) => {
    for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  };
  connection.on("close", lost);
  // The handshake is synchronous.
  server.on("headers", addHeaders);
  server.handleUpgrade(incoming, connection, head, (ws) => {
    connection.off("close", lost);
    // Without probes, an idle socket of a client that vanished stays open.
    connection.setKeepAlive?.(true, KEEP_ALIVE);
    ws.on("message", (data: Uint8Array, isBinary: boolean) => {
      socket.received(isBinary ? data : String(data));
    });
    ws.on("close", (code, reason) => socket.closed(code, String(reason)));
    // The event `close` follows.
    ws.on("error", () => {});
    socket.opened(ws);
  });
  server.off("headers", addHeaders);
}

/** Hop-by-hop headers, and headers with the body's length. */
const OWN_HEADERS =
  /^(connection|content-length|keep-alive|transfer-encoding|upgrade)$/;

/**
 * Writes a response to a raw connection, with backpressure, and closes it. The
 * end of the connection ends the body (RFC 9112, section 6.3).
 */
export async function sendResponse(
  connection: Duplex,
  response: Response,
): Promise<void> {
  const body = response.body?.getReader();
  let isTaken = Promise.withResolvers<void>();
  connection.on("drain", () => isTaken.resolve());
  connection.on("close", () => {
    isTaken.resolve();
    body?.cancel().catch(() => {});
  });
  // Node reports the end of a connection only while it is read.
  connection.on("end", () => connection.destroy());
  connection.resume();
  const lines = [`HTTP/1.1 ${response.status} ${response.statusText}`];
  for (const [name, value] of response.headers) {
    if (!OWN_HEADERS.test(name)) lines.push(`${name}: ${value}`);
  }
  lines.push("connection: close", "", "");
  let bytes = new TextEncoder().encode(lines.join("\r\n"));
  while (!connection.destroyed) {
    if (!connection.write(bytes)) await isTaken.promise;
    isTaken = Promise.withResolvers();
    const next = await body?.read();
    if (next === undefined || next.done) break;
    bytes = next.value;
  }
  if (connection.destroyed) await body?.cancel();
  else connection.end();
}
