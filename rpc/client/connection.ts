import type { RPCFailure } from "../error.ts";
import type { ClientMessage } from "../protocol.ts";
import type { ClientOptions, ClientSocket } from "./types.ts";

/** A message of the server. Only `type` has been checked. */
export interface Received {
  readonly type: string;
  readonly id?: string;
  readonly data?: unknown;
  readonly eventId?: string;
  readonly error?: Partial<RPCFailure>;
}

/** Events of a connection. */
export interface ConnectionEvents {
  /** Called when a socket has opened, the first time and after each break. */
  readonly onOpen: () => void;
  /** Called with each message. */
  readonly onMessage: (message: Received) => void;
  /** Called after the last attempt has failed. */
  readonly onGiveUp: (cause: unknown) => void;
}

/** A timer of 2^31 ms or more would fire at once. */
const MAX_DELAY = 2e9;

/** Returns the delay after a number of failures, in milliseconds. */
export function backoff({ reconnect }: ClientOptions, failures: number) {
  const { delayMs = 500, maxDelayMs = 30_000 } = reconnect || {};
  const longest = Math.min(MAX_DELAY, maxDelayMs, delayMs * 2 ** failures);
  // Random, so that the clients of a restarted server don't reconnect all at
  // once.
  return longest * (1 + Math.random()) / 2;
}

/**
 * A WebSocket that reconnects.
 *
 * ```
 * closed ──open()──► connecting ──► open
 *   ▲                    │  ▲        │ it closes, is silent,
 *   │ close(), or        ▼  │ timer  ▼ or sends garbage
 *   └─ no attempt left ── waiting ◄──┘
 * ```
 */
export class Connection {
  readonly #options: ClientOptions;
  readonly #events: ConnectionEvents;
  #isClosed = true;
  #socket: ClientSocket | undefined;
  /** The timer of pings, or of the next attempt while waiting. */
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The current attempt. Events of earlier ones have no effect. */
  #attempt = 0;
  /** Attempts since the last message. */
  #failures = 0;

  /** Creates a closed connection. */
  constructor(options: ClientOptions, events: ConnectionEvents) {
    this.#options = options;
    this.#events = events;
  }

  /** Whether messages can be sent. */
  get isOpen(): boolean {
    return this.#socket?.readyState === 1;
  }

  /** Sends a message if the connection is open. Returns whether it is. */
  send(message: ClientMessage): boolean {
    const { isOpen } = this;
    if (isOpen) this.#socket!.send(JSON.stringify(message));
    return isOpen;
  }

  /** Opens the connection if it is closed. */
  open(): void {
    if (!this.#isClosed) return;
    this.#isClosed = false;
    this.#connect();
  }

  /** Closes the connection until it is opened again. */
  close(): void {
    this.#isClosed = true;
    this.#drop();
  }

  async #connect(): Promise<void> {
    const {
      httpEndpoint,
      wsEndpoint = httpEndpoint,
      webSocket = (url: string | URL) => new WebSocket(url),
      heartbeatMs = 30_000,
    } = this.#options;
    const attempt = ++this.#attempt;
    const isCurrent = () => attempt === this.#attempt;
    const lost = (cause?: unknown) => {
      if (isCurrent()) this.#lost(cause);
    };

    let unanswered = 0;
    if (heartbeatMs && heartbeatMs < MAX_DELAY) {
      this.#timer = setInterval(() => {
        if (unanswered++ || !this.send({ type: "ping" })) lost();
      }, heartbeatMs);
    }

    let url: string | URL;
    try {
      url =
        await (typeof wsEndpoint === "function" ? wsEndpoint() : wsEndpoint);
    } catch (error) {
      return lost(error);
    }
    if (!isCurrent()) return;

    let socket: ClientSocket;
    try {
      socket = this.#socket = webSocket(url);
    } catch (error) {
      // Every further attempt would throw as well.
      this.#failures = Infinity;
      return lost(error);
    }
    socket.onopen = () => {
      if (isCurrent()) this.#events.onOpen();
    };
    socket.onmessage = ({ data }: { readonly data: string }) => {
      if (!isCurrent()) return;
      let message: Received;
      try {
        message = JSON.parse(data);
        const { type } = message;
        if (!type || typeof type !== "string") throw new Error("no type");
      } catch (error) {
        // The other end isn't a router.
        return lost(error);
      }
      this.#failures = unanswered = 0;
      this.#events.onMessage(message);
    };
    // A socket of Node 22 that can't be opened has no event but the error. In
    // Deno, an unhandled error event would count as an uncaught error.
    socket.onclose = socket.onerror = (event: Partial<Event>) => {
      event.preventDefault?.();
      lost();
    };
  }

  #lost(cause: unknown): void {
    this.#drop();
    const { reconnect = {} } = this.#options;
    const { attempts = Infinity } = reconnect || { attempts: 0 };
    if (this.#failures < attempts) {
      this.#timer = setTimeout(
        () => this.#connect(),
        backoff(this.#options, this.#failures++),
      );
    } else {
      this.#failures = 0;
      this.#isClosed = true;
      this.#events.onGiveUp(cause);
    }
  }

  /** Ends the current attempt. */
  #drop(): void {
    this.#attempt++;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = undefined;
  }
}
