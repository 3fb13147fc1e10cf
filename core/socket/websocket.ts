/**
 * WebSockets in the shape that several runtimes share: one handler object for
 * all connections, with each connection's own data on `ws.data`.
 *
 * @module
 */

import type { ConnectionInfo } from "../context.ts";
import { errorResponse } from "../error_response.ts";
import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../check/options.ts";
import { printableError } from "../redact/printable.ts";
import { type Socket, surviveLongMessages, upgrade } from "./upgrade.ts";
import { aLimit, withMethods } from "../check/rules.ts";
import {
  clientNetwork,
  createNetworkCounts,
  isPrivateNetwork,
} from "../http/addresses.ts";
import { currentScope } from "../request_scope.ts";

/** A connection, as its handler sees it. */
export interface ServerWebSocket<T = unknown> {
  /** The connection's data, as passed to `upgrade`. */
  data: T;
  /** 1 while messages can be sent, as in the `WebSocket` standard. */
  readonly readyState: number;
  /** Sent bytes that the network hasn't taken yet. */
  readonly bufferedAmount: number;
  /** Sends a message. Does nothing once the connection closes. */
  send(message: string | Uint8Array<ArrayBuffer>): void;
  /** Closes the connection. Default code 1000. */
  close(code?: number, reason?: string): void;
}

/**
 * Callbacks for the connections of an upgrader. An error of one, thrown or
 * rejected, is logged and closes its connection with code 1011. Other
 * connections go on.
 */
export interface WebSocketHandler<T = unknown> {
  /** Called with each message. */
  message(ws: ServerWebSocket<T>, message: string | Uint8Array): void;
  /** Called when the connection has opened. */
  open?(ws: ServerWebSocket<T>): void;
  /** Called when the connection has closed. The code is 1006 if it broke. */
  close?(ws: ServerWebSocket<T>, code: number, reason: string): void;
  /** Called when all buffered messages have been sent. */
  drain?(ws: ServerWebSocket<T>): void;
}

/** Settings of an upgrader. */
export interface UpgraderOptions {
  /**
   * Maximum open sockets per address. Further ones get 429. An IPv6 network of
   * 64 bits counts as one address. Default: 100 for public addresses, and
   * `Infinity` for private ones, which often belong to proxies.
   */
  readonly maxSocketsPerAddress?: number;
}

const aHandler = withMethods("an object of callbacks", "message");
const OPTIONS: OptionRules<UpgraderOptions> = { maxSocketsPerAddress: aLimit };

/** Data about the request to upgrade. */
export interface UpgradeOptions<T> {
  /** The data of the connection. */
  readonly data: T;
  /** The connection. Default: the connection of the app's current request. */
  readonly info?: ConnectionInfo | undefined;
}

/** Turns requests into WebSocket connections. */
export interface Upgrader<T = unknown> extends AsyncDisposable {
  /**
   * Upgrades a request.
   *
   * After this the request's headers can't be read. Put the ones you need into
   * `data`.
   *
   * @returns `false` if the request isn't a valid WebSocket handshake, or its
   * address has too many sockets.
   */
  upgrade(request: Request, options: UpgradeOptions<T>): boolean;
  /**
   * Returns the response to a request that was upgraded, or whose address has
   * too many sockets. Returns `undefined` if it doesn't ask for a WebSocket.
   */
  response(request: Request): Response | undefined;
  /** The number of open connections. */
  readonly size: number;
  /** Closes every connection with code 1001 and resolves when all are gone. */
  close(): Promise<void>;
}

/** Time between two checks of a socket's backlog, in milliseconds. */
const DRAIN_INTERVAL = 5;
/** How long a peer may take to answer a close frame, in milliseconds. */
const CLOSE_TIMEOUT = 1_000;

/**
 * Creates an {@linkcode Upgrader} over the server's WebSockets: Deno's own, or
 * the ones of `toNode()` and `toBun()`.
 *
 * @param handler Callbacks for the connections.
 * @param options The limit of connections.
 * @throws {TypeError} If the handler has no function `message`, or
 * `maxSocketsPerAddress` is neither a positive integer nor `Infinity`.
 *
 * @example
 * ```ts
 * import { createUpgrader } from "@quartet/kit/app";
 *
 * const echo = createUpgrader<undefined>({
 *   message: (ws, message) => ws.send(String(message)),
 * });
 * const handler = (request: Request) => {
 *   echo.upgrade(request, { data: undefined });
 *   return echo.response(request) ??
 *     new Response("Expected a WebSocket", { status: 426 });
 * };
 *
 * console.assert(handler(new Request("http://localhost/")).status === 426);
 * ```
 */
export function createUpgrader<T>(
  handler: WebSocketHandler<T>,
  options: UpgraderOptions = {},
): Upgrader<T> {
  checkValue(handler, "handler", aHandler, "create upgrader");
  checkOptions(options, OPTIONS, "create upgrader");
  const { maxSocketsPerAddress } = options;
  const counts = createNetworkCounts();
  const connections = new Set<Connection<T>>();
  const responses = new WeakMap<Request, Response>();
  let emptied = Promise.withResolvers<void>();
  let closing: Promise<void> | undefined;

  function accept(
    request: Request,
    { data, info = currentScope()?.context?.info }: UpgradeOptions<T>,
  ): boolean {
    if (!asksForWebSocket(request)) return false;
    const network = clientNetwork(info);
    const max = maxSocketsPerAddress ?? defaultMax(network);
    if (counts.get(network) >= max) {
      const problem = `One address may have at most ${max} sockets open here`;
      responses.set(request, errorResponse(429, "TOO_MANY_SOCKETS", problem));
      return false;
    }
    const { socket, response } = upgrade(request);
    responses.set(request, response);
    const refuseUpgrade = () => {
      connection.close(1011, "Internal error");
      return response;
    };
    let scope = "Deno" in globalThis ? currentScope() : undefined;
    for (; scope !== undefined; scope = scope.outer) {
      scope.refuseUpgrade = refuseUpgrade;
    }
    const release = surviveLongMessages();
    const uncount = counts.add(network);
    const connection = new Connection(socket, data, handler, () => {
      release();
      uncount();
      connections.delete(connection);
      if (connections.size === 0) emptied.resolve();
    });
    connections.add(connection);
    return true;
  }

  async function closeAll(): Promise<void> {
    if (connections.size === 0) return;
    emptied = Promise.withResolvers<void>();
    for (const connection of connections) connection.close(1001, "Going away");
    const timer = setTimeout(emptied.resolve, CLOSE_TIMEOUT);
    await emptied.promise;
    clearTimeout(timer);
  }

  function close(): Promise<void> {
    return closing ??= closeAll().finally(() => closing = undefined);
  }

  return {
    upgrade: accept,
    response: (request) => responses.get(request),
    get size() {
      return connections.size;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns the maximum open sockets of a network. */
function defaultMax(network = ""): number {
  return isPrivateNetwork(network) ? Infinity : 100;
}

/** Checks the client's handshake: RFC 6455, section 4.1. */
function asksForWebSocket({ method, headers }: Request): boolean {
  return method === "GET" &&
    headers.get("upgrade")?.toLowerCase() === "websocket" &&
    /(^|[\s,])upgrade([\s,]|$)/i.test(headers.get("connection") ?? "") &&
    headers.get("sec-websocket-version") === "13" &&
    headers.has("sec-websocket-key");
}

/** The standard's values. Not every server has the global `WebSocket`. */
const [CONNECTING, OPEN] = [0, 1];

class Connection<T> implements ServerWebSocket<T> {
  data: T;
  readonly #socket: Socket;
  readonly #handler: WebSocketHandler<T>;
  #drainTimer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    socket: Socket,
    data: T,
    handler: WebSocketHandler<T>,
    onGone: () => void,
  ) {
    this.data = data;
    this.#socket = socket;
    this.#handler = handler;
    socket.binaryType = "arraybuffer";
    socket.onopen = () => this.#run(() => handler.open?.(this));
    socket.onmessage = ({ data }) => {
      const message = typeof data === "string" ? data : new Uint8Array(data);
      this.#run(() => handler.message(this, message));
    };
    socket.onclose = ({ code, reason }) => {
      onGone();
      clearTimeout(this.#drainTimer);
      // Deno reports 0 instead of the standard's 1006, "abnormal closure".
      this.#run(() => handler.close?.(this, code || 1006, reason));
    };
    // A broken connection also closes. Without a listener, its error would be
    // reported as uncaught.
    socket.onerror = (event) => event.preventDefault();
  }

  get readyState(): number {
    return this.#socket.readyState;
  }

  get bufferedAmount(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: string | Uint8Array<ArrayBuffer>): void {
    const socket = this.#socket;
    if (socket.readyState !== OPEN) return;
    socket.send(message);
    if (
      this.#handler.drain !== undefined && this.#drainTimer === undefined &&
      socket.bufferedAmount > 0
    ) this.#watchDrain();
  }

  close(code = 1000, reason = ""): void {
    const socket = this.#socket;
    const close = () => socket.close(code, reason);
    // Deno ignores a call before the socket is open. Other servers have none yet.
    if (socket.readyState === CONNECTING) socket.onopen = close;
    else close();
  }

  /** An error thrown by an event listener would end the process. */
  async #run(listener: () => unknown): Promise<void> {
    try {
      await listener();
    } catch (error) {
      console.error("A WebSocket handler failed:", printableError(error));
      this.close(1011, "Internal error");
    }
  }

  /** Polls a socket with a backlog, because Deno has no drain event. */
  #watchDrain(): void {
    this.#drainTimer = setTimeout(() => {
      this.#drainTimer = undefined;
      if (this.#socket.readyState !== OPEN) return;
      if (this.#socket.bufferedAmount > 0) this.#watchDrain();
      else this.#run(() => this.#handler.drain?.(this));
    }, DRAIN_INTERVAL);
  }
}
