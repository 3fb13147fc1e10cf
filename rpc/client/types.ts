import type { RPCFailure } from "../error.ts";
import type { RPCClientError } from "./error.ts";
import type { Calls } from "../procedure/calls.ts";
import type { BatchMessage, CallMessage, Transformer } from "../protocol.ts";

/** Headers as `fetch` takes them. The types of Node have no `HeadersInit`. */
export type ClientHeaders = NonNullable<RequestInit["headers"]>;

/** Settings of a client that calls over HTTP. */
export interface HTTPClientOptions {
  /** The router's URL. It may be relative in a page only. */
  readonly httpEndpoint: string | URL;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (
    input: string,
    init: RequestInit,
  ) => Response | Promise<Response>;
  /**
   * Headers of every request, or a function that is called for each request.
   */
  readonly headers?:
    | ClientHeaders
    | (() => ClientHeaders | Promise<ClientHeaders>);
  /** Set to `batching` to send the calls of a tick as one request. */
  readonly batch?: (exchange: Exchange) => Exchange;
}

/** Settings of a client. */
export interface ClientOptions extends HTTPClientOptions {
  /**
   * The URL of sockets, or a function that is called for each connection, for
   * example to add a fresh token. Default: `httpEndpoint`, which browsers
   * accept since May 2024. For older ones, set a `ws:` or `wss:` URL.
   */
  readonly wsEndpoint?: string | URL | (() => string | Promise<string>);
  /**
   * Creates a socket. Outside a browser it can add headers; `headers` apply to
   * calls only. Default: `new WebSocket(url)`.
   */
  readonly webSocket?: (url: string | URL) => ClientSocket;
  /** The pace of reconnecting. `false` gives up at once. */
  readonly reconnect?: false | ReconnectOptions;
  /**
   * Time between two pings, in milliseconds. A server that misses two in a row
   * counts as gone, as does one that isn't connected after one interval.
   * `false` and `Infinity` turn pings off. Default 30,000.
   */
  readonly heartbeatMs?: number | false;
}

/** The part of a `WebSocket` that a client uses. Sockets of `npm:ws` have it. */
export type ClientSocket =
  & { readonly readyState: number; send(message: string): void; close(): void }
  & Record<
    `on${"open" | "message" | "close" | "error"}`,
    ((event: never) => unknown) | null
  >;

/** Options of any client, after the compiler has checked the transformer. */
export interface PlainOptions extends ClientOptions {
  /** The transformer. */
  readonly transformer?: Transformer | undefined;
}

/** The pace of reconnecting. */
export interface ReconnectOptions {
  /** Maximum failed attempts in a row. Default: no limit. */
  readonly attempts?: number;
  /**
   * The longest first wait, in milliseconds. It doubles after each failure.
   * Default 500.
   */
  readonly delayMs?: number;
  /** The longest wait, in milliseconds. Default 30,000. */
  readonly maxDelayMs?: number;
}

/** The router's transformer. Required if the router has one. */
export type TransformerOption<R> = R extends
  { readonly "~wire"?: infer As extends string }
  ? As extends "json" ? { readonly transformer?: undefined }
  : { readonly transformer: Transformer }
  : { readonly transformer?: undefined };

/** Settings of one subscription. */
export interface SubscribeOptions {
  /** Unsubscribes. */
  readonly signal?: AbortSignal | undefined;
  /**
   * The id of the last tracked value received. The subscription continues after
   * it.
   */
  readonly lastEventId?: string | undefined;
  /**
   * Called when messages are lost, because the server's history no longer
   * reaches back to the last one received. The subscription continues with new
   * messages: reload the state here. Default: logs a warning.
   */
  readonly onGap?: (() => void) | undefined;
}

/** The client of a router. */
export type Client<R> = R extends
  { readonly _def: infer Def; readonly "~wire"?: infer As }
  ? Calls<Def, As, CallOptions, SubscribeOptions, RPCClientError>
  : never;

/** The client of a router's queries and mutations. */
export type HTTPClient<R> = R extends
  { readonly _def: infer Def; readonly "~wire"?: infer As }
  ? Calls<Def, As, CallOptions, never>
  : never;

/** Settings of one call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Additional headers. A call with headers isn't batched. */
  readonly headers?: ClientHeaders | undefined;
}

/**
 * Sends a message to the router: by GET if a URL is given, otherwise by POST.
 */
export type Exchange = (
  message: CallMessage | BatchMessage,
  options: CallOptions,
  url?: string | false,
) => Promise<{
  /** Whether the call succeeded. */
  readonly ok?: boolean;
  /** The output. */
  readonly data?: unknown;
  /** The failure. */
  readonly error?: Partial<RPCFailure> | false | undefined;
  /**
   * The HTTP status of the call, or the one it would have outside a batch. 0:
   * none.
   */
  readonly status: number;
  /** The error of sending the message or reading the response. */
  readonly cause?: unknown;
}>;

/** The answer to a message, before it has been checked. */
export type Answer = Awaited<ReturnType<Exchange>>;
