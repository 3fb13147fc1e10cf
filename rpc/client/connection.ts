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
interface ConnectionEvents {
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
 * Creates a WebSocket that reconnects. It is closed at first.
 *
 * ```
 * closed ──open()──► connecting ──► open
 *   ▲                    │  ▲        │ it closes, is silent,
 *   │ close(), or        ▼  │ timer  ▼ or sends garbage
 *   └─ no attempt left ── waiting ◄──┘
 * ```
 */
export function createConnection(
  options: ClientOptions,
  events: ConnectionEvents,
) {
  let isClosed = true;
  let socket: ClientSocket | undefined;
  /** The timer of pings, or of the next attempt while waiting. */
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** The current attempt. Events of earlier ones have no effect. */
  let attempt = 0;
  /** Attempts since the last message. */
  let failures = 0;

  /** Whether messages can be sent. */
  const isOpen = () => socket?.readyState === 1;

  /** Sends a message if the connection is open. Returns whether it is. */
  function send(message: ClientMessage): boolean {
    const canSend = isOpen();
    if (canSend) socket!.send(JSON.stringify(message));
    return canSend;
  }

  /** Opens the connection if it is closed. */
  function open(): void {
    if (!isClosed) return;
    isClosed = false;
    connect();
  }

  /** Closes the connection until it is opened again. */
  function close(): void {
    isClosed = true;
    drop();
  }

  async function connect(): Promise<void> {
    const {
      httpEndpoint,
      wsEndpoint = httpEndpoint,
      webSocket = (url: string | URL) => new WebSocket(url),
      heartbeatMs = 30_000,
    } = options;
    const own = ++attempt;
    const isCurrent = () => own === attempt;
    const lost = (cause?: unknown) => {
      if (isCurrent()) retry(cause);
    };

    let unanswered = 0;
    if (heartbeatMs && heartbeatMs < MAX_DELAY) {
      timer = setInterval(() => {
        if (unanswered++ || !send({ type: "ping" })) lost();
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

    try {
      socket = webSocket(url);
    } catch (error) {
      // Every further attempt would throw as well.
      failures = Infinity;
      return lost(error);
    }
    socket.onopen = () => {
      if (isCurrent()) events.onOpen();
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
      failures = unanswered = 0;
      events.onMessage(message);
    };
    // A socket of Node 22 that can't be opened has no event but the error. In
    // Deno, an unhandled error event would count as an uncaught error.
    socket.onclose = socket.onerror = (event: Partial<Event>) => {
      event.preventDefault?.();
      lost();
    };
  }

  /** Waits for the next attempt, or gives up after the last one. */
  function retry(cause: unknown): void {
    drop();
    const { reconnect = {} } = options;
    const { attempts = Infinity } = reconnect || { attempts: 0 };
    if (failures < attempts) {
      timer = setTimeout(connect, backoff(options, failures++));
    } else {
      failures = 0;
      isClosed = true;
      events.onGiveUp(cause);
    }
  }

  /** Ends the current attempt. */
  function drop(): void {
    attempt++;
    clearTimeout(timer);
    socket?.close();
    socket = undefined;
  }

  return { isOpen, send, open, close };
}
