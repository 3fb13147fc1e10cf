import type { ConnectionInfo } from "../../core/context.ts";
import type { Fetcher } from "../fetcher.ts";
import { isResponse } from "../../core/http/is_response.ts";
import { printableError } from "../../core/redact/printable.ts";
import { kindOf } from "../../core/check/show.ts";
import { pathOf } from "../../core/path.ts";
import { offerUpgrade } from "../../core/socket/upgrade.ts";
import type { Socket } from "../../core/socket/upgrade.ts";

/** What a server has opened for a request. */
export interface OpenSocket {
  readonly bufferedAmount: number;
  send(message: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
}

const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];

/**
 * A `WebSocket` for servers which open theirs only once the response is known,
 * since its headers go out with the handshake.
 */
export class HostSocket implements Socket {
  binaryType = "arraybuffer";
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  #state = CONNECTING;
  #open: OpenSocket | undefined;
  /** What it was closed with before it was open. */
  #farewell: [code: number, reason: string] | undefined;

  get readyState(): number {
    return this.#state!;
  }

  get bufferedAmount(): number {
    return this.#open?.bufferedAmount ?? 0;
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#state === OPEN) this.#open!.send(message);
  }

  close(code = 1000, reason = ""): void {
    if (this.#state === CLOSING || this.#state === CLOSED) return;
    // Not before: of a code or a reason that can't be sent, the server throws,
    // and whoever caught that has to be able to close the socket all the same.
    if (this.#open === undefined) this.#farewell = [code, reason];
    else this.#open.close(code, reason);
    this.#state = CLOSING;
  }

  /** The handshake is made. */
  opened(socket: OpenSocket): void {
    this.#open = socket;
    if (this.#farewell !== undefined) {
      return sayFarewell(socket, this.#farewell);
    }
    this.#state = OPEN;
    this.onopen?.(new Event("open"));
  }

  /** A message has come in. */
  received(data: string | Uint8Array): void {
    if (this.#state === OPEN) this.onmessage?.({ data } as MessageEvent);
  }

  /** The connection is gone, or was never made. */
  closed(code: number, reason: string): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.onclose?.({ code, reason } as CloseEvent);
  }
}

function sayFarewell(
  socket: OpenSocket,
  farewell: readonly [code: number, reason: string],
): void {
  try {
    socket.close(...farewell);
  } catch (error) {
    console.error(
      "Cannot close WebSocket with the given code and reason:",
      printableError(error),
    );
    socket.close(1011);
  }
}

/**
 * The answer to a request that a socket was offered for. If there is none, a
 * socket that was taken is closed, or it would be counted for good.
 */
export async function answerOf(
  fetcher: Fetcher,
  request: Request,
  info: ConnectionInfo,
  taken: () => HostSocket | undefined,
): Promise<Response> {
  try {
    const response: unknown = await fetcher.fetch(request, info);
    if (isResponse(response)) return response;
    throw new TypeError(
      `Cannot answer ${request.method} ${
        pathOf(request.url)
      }: fetch must return a Response, received ${kindOf(response)}`,
    );
  } catch (error) {
    taken()?.closed(1006, "");
    throw error;
  }
}

/**
 * Offers a socket for a request, as `Deno.upgradeWebSocket` would make one.
 *
 * @returns Gives that socket, if it was taken.
 */
export function offerSocket(request: Request): () => HostSocket | undefined {
  let socket: HostSocket | undefined;
  offerUpgrade(request, () => {
    socket = new HostSocket();
    const response = new Response(null);
    // A status that only a server can give.
    Object.defineProperty(response, "status", { value: 101 });
    return { socket, response };
  });
  return () => socket;
}
