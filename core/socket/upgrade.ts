/**
 * How a request becomes a WebSocket: on Deno by Deno itself, elsewhere by what
 * the server's adapter offers for that request.
 *
 * @module
 */

/** What is used of a `WebSocket`. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  readonly bufferedAmount: number;
  onopen: ((event: Event) => void) | null;
  // deno-lint-ignore no-explicit-any -- as in the standard
  onmessage: ((event: MessageEvent<any>) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  onerror: ((event: Event) => void) | null;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

/** A socket that opens once the response has been given. */
export interface Upgraded {
  readonly socket: Socket;
  readonly response: Response;
}

const offers = new WeakMap<Request, () => Upgraded>();

/** Says how a request can be upgraded on a server that is not Deno's. */
export function offerUpgrade(request: Request, upgrade: () => Upgraded): void {
  offers.set(request, upgrade);
}

/**
 * Makes a WebSocket of a request.
 *
 * @throws {TypeError} If nothing on this server can do so.
 */
export function upgrade(request: Request): Upgraded {
  const offer = offers.get(request);
  if (offer !== undefined) return offer();
  if ("Deno" in globalThis) return Deno.upgradeWebSocket(request);
  throw new TypeError(
    "Cannot open a WebSocket: Deno.upgradeWebSocket is not available in this runtime; serve with toNode() on Node, with toBun() on Bun, and hand on the request that they give",
  );
}
