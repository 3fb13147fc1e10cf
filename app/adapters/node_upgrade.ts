/**
 * Node gives a request that asks for a WebSocket as it came in, with the bare
 * connection: here it becomes a `Request`, and its answer is written.
 *
 * @module
 */

import { isHost } from "../../core/http/host_header.ts";
import type { HostSocket } from "./host_socket.ts";
import type { NodeDuplex, NodeIncoming, NodeSocketServer } from "./node.ts";

/**
 * Whether a request asks for a WebSocket, as RFC 6455, section 4.1, has it.
 * Node hands over whatever has a header `Upgrade`, which clients send to try
 * HTTP/2, with their POSTs too; and of those the body can't be told any more
 * from what comes after it.
 */
export function asksNodeForWebSocket(
  { method, rawHeaders }: NodeIncoming,
): boolean {
  if (method !== "GET") return false;
  for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
    if (
      rawHeaders[i]!.toLowerCase() === "upgrade" &&
      /(^|,)[ \t]*websocket[ \t]*(,|$)/i.test(rawHeaders[i + 1]!)
    ) return true;
  }
  return false;
}

/** Makes a `Request`; `undefined` if its `Host` or target is malformed. */
export function nodeRequest(
  { url = "/", rawHeaders }: NodeIncoming,
  duplex: NodeDuplex,
): Request | undefined {
  try {
    const headers = new Headers();
    for (let i = 0; i + 1 < rawHeaders.length; i += 2) {
      headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
    }
    const scheme = duplex.encrypted === true ? "https" : "http";
    const host = headers.get("host") ?? "localhost";
    if (!isHost(host)) return undefined;
    const base = `${scheme}://${host}`;
    // Not resolved against the base: a path may begin with two slashes.
    const target = url.startsWith("/") ? base + url : url;
    return new Request(target, { headers });
  } catch {
    return undefined;
  }
}

/** Makes the handshake, with what the app has put into its response's headers. */
export function upgradeNode(
  server: NodeSocketServer,
  incoming: NodeIncoming,
  duplex: NodeDuplex,
  head: Uint8Array,
  headers: Headers,
  socket: HostSocket,
): void {
  const lost = () => socket.closed(1006, "");
  if (duplex.destroyed) return lost();
  const addHeaders = (lines: string[]) => {
    for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  };
  duplex.on("close", lost);
  // The handshake is made within this call.
  server.on("headers", addHeaders);
  server.handleUpgrade(incoming, duplex, head, (ws) => {
    duplex.off("close", lost);
    ws.on("message", (data, isBinary) => {
      socket.received(isBinary ? data as Uint8Array : String(data));
    });
    ws.on("close", (code, reason) => socket.closed(code, String(reason)));
    // It closes as well, which is heard of above.
    ws.on("error", () => {});
    socket.opened(ws);
  });
  server.off("headers", addHeaders);
}

/** Hop by hop, or said by the connection's end. */
const OWN_HEADERS =
  /^(connection|content-length|keep-alive|transfer-encoding|upgrade)$/;

/**
 * Writes a response onto a bare connection, as fast as that takes it, and
 * closes that: its end is that of the body (RFC 9112, section 6.3).
 */
export async function sendResponse(
  duplex: NodeDuplex,
  response: Response,
): Promise<void> {
  const body = response.body?.getReader();
  let isTaken = Promise.withResolvers<void>();
  duplex.on("drain", () => isTaken.resolve());
  duplex.on("close", () => {
    isTaken.resolve();
    body?.cancel().catch(() => {});
  });
  // Of a connection that nobody reads it would not be known that it is over.
  duplex.on("end", () => duplex.destroy());
  duplex.resume();
  const lines = [`HTTP/1.1 ${response.status} ${response.statusText}`];
  for (const [name, value] of response.headers) {
    if (!OWN_HEADERS.test(name)) lines.push(`${name}: ${value}`);
  }
  lines.push("connection: close", "", "");
  let bytes = new TextEncoder().encode(lines.join("\r\n"));
  while (!duplex.destroyed) {
    if (!duplex.write(bytes)) await isTaken.promise;
    isTaken = Promise.withResolvers();
    const next = await body?.read();
    if (next === undefined || next.done) break;
    bytes = next.value;
  }
  if (duplex.destroyed) await body?.cancel();
  else duplex.end();
}
