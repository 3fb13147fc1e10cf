/**
 * Upgrades requests to WebSockets: with `Deno.upgradeWebSocket`, or with the
 * function that another server's adapter offers for a request.
 *
 * @module
 */

import { printableError } from "../redact/printable.ts";

/** The parts of a `WebSocket` that are used. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  onerror: ((event: Event) => void) | null;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** A socket that opens after the response has been returned. */
interface Upgraded {
  readonly socket: Socket;
  readonly response: Response;
}

const offers = new WeakMap<Request, () => Upgraded>();

/** Sets how a request is upgraded on a server other than Deno's. */
export function offerUpgrade(request: Request, upgrade: () => Upgraded): void {
  offers.set(request, upgrade);
}

/**
 * Upgrades a request to a WebSocket.
 *
 * @throws {TypeError} If this server can't upgrade it.
 */
export function upgrade(request: Request): Upgraded {
  const offer = offers.get(request);
  if (offer !== undefined) return offer();
  if ("Deno" in globalThis) return Deno.upgradeWebSocket(request);
  throw new TypeError(
    'Cannot open a WebSocket: Deno.upgradeWebSocket is not available in this runtime; on Node, pass webSocketServer to toNode(), and call server.on("upgrade", upgrade); on Bun, serve with toBun(); pass on their request object unchanged',
  );
}

let sockets = 0;

/**
 * Keeps the process alive if a client sends a message that no string can hold,
 * over 512 MiB. Deno has no limit for messages and joins any number of frames.
 * When it fails, it throws in its own reader, where no listener of the socket
 * can catch the error, and an unhandled rejection ends the process.
 *
 * @returns A function to call when a socket closes. The listener is removed
 * with the last one.
 */
export function surviveLongMessages(): () => void {
  if (!("Deno" in globalThis)) return () => {};
  if (sockets++ === 0) addEventListener("unhandledrejection", handle);
  return () => {
    if (--sockets === 0) removeEventListener("unhandledrejection", handle);
  };
}

/** Whether an error comes from Deno's reader of messages. */
export function isLongMessageError(error: unknown): boolean {
  // The promise is Deno's own, so only the stack identifies its reader.
  return error instanceof TypeError &&
    error.stack?.includes("ext:deno_websocket") === true;
}

function handle(event: PromiseRejectionEvent): void {
  const { reason } = event;
  if (!isLongMessageError(reason)) return;
  event.preventDefault();
  console.error("Cannot read a WebSocket message:", printableError(reason));
}
