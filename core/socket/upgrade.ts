/**
 * Upgrades requests to WebSockets: with `Deno.upgradeWebSocket`, or with the
 * function that another server's adapter offers for a request.
 *
 * @module
 */

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
export interface Upgraded {
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
