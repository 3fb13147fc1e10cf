/**
 * What is used of Node's server and of the package `ws`.
 *
 * @module
 */

/** What is used of Node's `IncomingMessage`. */
export interface NodeIncoming {
  /** The method. */
  readonly method?: string | undefined;
  /** The target, such as `/a?b=1`. */
  readonly url?: string | undefined;
  /** Names and values in turn, as received. */
  readonly rawHeaders: readonly string[];
  /** The connection. */
  readonly socket: {
    /** The other end's address. */
    readonly remoteAddress?: string | undefined;
    /** The other end's port. */
    readonly remotePort?: number | undefined;
  };
}

/** What is used of Node's `ServerResponse`. */
export interface NodeOutgoing {
  /** Whether it is over, one way or the other. */
  readonly closed: boolean;
  /** Whether all of it has been sent. */
  readonly writableFinished: boolean;
  /** Listens to its end. */
  once(event: "close", listener: () => void): unknown;
}

/** What a server of Node hands on beside the `Request` that it has made. */
export interface NodeBindings {
  /** Node's own request. */
  readonly incoming: NodeIncoming;
  /** Node's own response. */
  readonly outgoing: NodeOutgoing;
}

/** What is used of Node's `Duplex`: a bare connection. */
export interface NodeDuplex {
  /** Whether it can't be used any more. */
  readonly destroyed: boolean;
  /** Whether TLS encrypts it. */
  readonly encrypted?: boolean;
  /** Listens to it. */
  on(
    event: "error" | "close" | "drain" | "end",
    listener: () => void,
  ): unknown;
  /** Stops listening. */
  off(event: "close", listener: () => void): unknown;
  /** Reads on, and throws away what comes. */
  resume(): unknown;
  /** Writes bytes, and tells whether it takes more before it drains. */
  write(bytes: Uint8Array): boolean;
  /** Closes it once all is written. */
  end(): unknown;
  /** Closes it at once. */
  destroy(): unknown;
}

/** What is used of a socket of the package `ws`. */
export interface NodeSocket {
  /** Bytes that the network has not taken yet. */
  readonly bufferedAmount: number;
  /** Listens to messages. */
  on(
    event: "message",
    listener: (data: unknown, isBinary: boolean) => void,
  ): unknown;
  /** Listens to its end. */
  on(
    event: "close",
    listener: (code: number, reason: unknown) => void,
  ): unknown;
  /** Listens to failures. */
  on(event: "error", listener: () => void): unknown;
  /** Sends a message. */
  send(message: string | Uint8Array): void;
  /** Closes the connection. */
  close(code?: number, reason?: string): void;
}

/** What is used of a `WebSocketServer` of the package `ws`. */
export interface NodeSocketServer {
  /** Makes a socket of a connection. */
  handleUpgrade(
    incoming: NodeIncoming,
    duplex: NodeDuplex,
    head: Uint8Array,
    done: (socket: NodeSocket) => void,
  ): void;
  /** Listens to handshakes; headers may be added to theirs. */
  on(event: "headers", listener: (lines: string[]) => void): unknown;
  /** Stops listening. */
  off(event: "headers", listener: (lines: string[]) => void): unknown;
}
