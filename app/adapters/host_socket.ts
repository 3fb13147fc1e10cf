import { AsyncLocalStorage } from "node:async_hooks";
import type { ConnectionInfo } from "../../core/context.ts";
import { checkResponse } from "../../core/http/message.ts";
import { offerUpgrade, type Socket } from "../../core/socket/upgrade.ts";
import type { Fetcher } from "../fetcher.ts";

/** The part of a server's socket that is used. */
export interface OpenSocket extends Pick<Socket, "send" | "close"> {
  readonly bufferedAmount?: number;
  /** The method that Bun has instead. */
  getBufferedAmount?(): number;
}

const [CONNECTING, OPEN, CLOSING, CLOSED] = [0, 1, 2, 3];

/**
 * A `WebSocket` for servers that open it after the response, because the
 * handshake contains the response's headers. As on Deno, its events run in the
 * async context of the code that has upgraded the request.
 */
export class HostSocket implements Socket {
  binaryType = "arraybuffer";
  onopen: Socket["onopen"] = null;
  onmessage: Socket["onmessage"] = null;
  onclose: Socket["onclose"] = null;
  onerror: Socket["onerror"] = null;
  readonly #run = AsyncLocalStorage.snapshot();
  #state = CONNECTING;
  #open: OpenSocket | undefined;

  get readyState(): number {
    return this.#state!;
  }

  get bufferedAmount(): number {
    return this.#open?.bufferedAmount ?? this.#open?.getBufferedAmount?.() ?? 0;
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    if (this.#state === OPEN) this.#open!.send(message);
  }

  close(code = 1000, reason = ""): void {
    if (this.#state !== OPEN) return;
    this.#open!.close(code, reason);
    // Last: if the server rejects the code, the caller can close again.
    this.#state = CLOSING;
  }

  /** Called after the handshake. */
  opened(socket: OpenSocket): void {
    this.#open = socket;
    this.#state = OPEN;
    this.#run(() => this.onopen?.(new Event("open")));
  }

  /** Called with a message. */
  received(data: string | Uint8Array): void {
    if (this.#state !== OPEN) return;
    this.#run(() => this.onmessage?.({ data } as MessageEvent));
  }

  /** Called when the connection has closed or failed. */
  closed(code: number, reason: string): void {
    if (this.#state === CLOSED) return;
    this.#state = CLOSED;
    this.#run(() => this.onclose?.({ code, reason } as CloseEvent));
  }
}

/**
 * Answers a request that may become a WebSocket. If the app takes the socket but
 * doesn't answer with its upgrade, the socket is closed.
 *
 * @returns The response, and the socket if the request was upgraded.
 */
export async function answerUpgrade(
  fetcher: Fetcher,
  request: Request,
  info: ConnectionInfo,
) {
  let socket: HostSocket | undefined;
  offerUpgrade(request, () => {
    socket = new HostSocket();
    const response = new Response(null);
    // Only a server can create a response with this status.
    Object.defineProperty(response, "status", { value: 101 });
    return { socket, response };
  });
  let isUpgraded = false;
  try {
    const result = await fetcher.fetch(request, info);
    const response = checkResponse(result, request, "fetch must return");
    isUpgraded = response.status === 101;
    return { response, socket: isUpgraded ? socket : undefined };
  } finally {
    if (!isUpgraded) socket?.closed(1006, "");
  }
}
