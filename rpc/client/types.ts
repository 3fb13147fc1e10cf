import type { RPCFailure } from "../error.ts";
import type { RPCClientError } from "./error.ts";
import type { Calls } from "../procedure/calls.ts";
import type { BatchMessage, CallMessage, Transformer } from "../protocol.ts";

/** Settings of a client that calls over HTTP. */
export interface HTTPClientOptions {
  /** Where the router is: a URL, which may be relative in a page. */
  readonly httpEndpoint: string | URL;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (
    input: string,
    init: RequestInit,
  ) => Response | Promise<Response>;
  /** Headers of every request; a function is asked for each. */
  readonly headers?: HeadersInit | (() => HeadersInit | Promise<HeadersInit>);
  /** `batching` sends the calls of one tick as one request. */
  readonly batch?: (exchange: Exchange) => Exchange;
}

/** Settings of a client. */
export interface ClientOptions extends HTTPClientOptions {
  /**
   * Where subscriptions go; a function is asked for each connection, so that it
   * can put a fresh token into the URL. Default: `httpEndpoint`, which
   * browsers have taken for its `ws:` or `wss:` since May 2024; for older ones,
   * say so here.
   */
  readonly wsEndpoint?: string | URL | (() => string | Promise<string>);
  /**
   * Opens a socket, for clients outside a browser: `headers` go with calls only.
   * Default: `new WebSocket(url)`.
   */
  readonly webSocket?: (url: string | URL) => WebSocket;
  /** What to do when the socket breaks. `false` gives up at once. */
  readonly reconnect?: false | ReconnectOptions;
  /**
   * Time between two pings, in milliseconds. A server that is silent for two of
   * them counts as gone, and so does one that isn't connected after one. With
   * `false` or `Infinity` none are sent, and the client waits for as long as it
   * takes. Default 30,000.
   */
  readonly heartbeatMs?: number | false;
}

/** Any client's options, when the transformer has been seen to fit. */
export interface PlainOptions extends ClientOptions {
  /** The transformer. */
  readonly transformer?: Transformer | undefined;
}

/** How a broken socket is opened again. */
export interface ReconnectOptions {
  /** How many attempts may fail in a row. Default: any number. */
  readonly attempts?: number;
  /**
   * How long the first wait may be, in milliseconds; each further one may be
   * twice as long. Default 500.
   */
  readonly delayMs?: number;
  /** The longest wait, in milliseconds. Default 30,000. */
  readonly maxDelayMs?: number;
}

/** The transformer: required if the router has one, and only then. */
export type TransformerOption<R> = R extends
  { readonly "~wire"?: infer As extends string }
  ? As extends "json" ? { readonly transformer?: undefined }
  : { readonly transformer: Transformer }
  : { readonly transformer?: undefined };

/** Settings of one subscription. */
export interface SubscribeOptions {
  /** Unsubscribes. */
  readonly signal?: AbortSignal | undefined;
  /** The id of the last tracked value that was seen, to go on after it. */
  readonly lastEventId?: string | undefined;
  /**
   * Called when messages are lost, because the server's history no longer
   * reaches back to the last one seen. The subscription goes on by itself with
   * new messages: load the state anew here. Default: logs a warning.
   */
  readonly onGap?: (() => void) | undefined;
}

/** The procedures of a router, as its client calls them. */
export type Client<R> = R extends
  { readonly _def: infer Def; readonly "~wire"?: infer As }
  ? Calls<Def, As, CallOptions, SubscribeOptions, RPCClientError>
  : never;

/** The queries and mutations of a router, as its client calls them. */
export type HTTPClient<R> = R extends
  { readonly _def: infer Def; readonly "~wire"?: infer As }
  ? Calls<Def, As, CallOptions, never>
  : never;

/** Settings of one call. */
export interface CallOptions {
  /** Aborts the call, which rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** More headers. A call that has some is sent by itself. */
  readonly headers?: HeadersInit | undefined;
}

/** Sends a message to the router: by a GET of its URL, or by POST. */
export type Exchange = (
  message: CallMessage | BatchMessage,
  options: CallOptions,
  url?: string | false,
) => Promise<{
  /** Whether there is an output. */
  readonly ok?: boolean;
  /** The output. */
  readonly data?: unknown;
  /** The failure. */
  readonly error?: Partial<RPCFailure> | false | undefined;
  /** The HTTP status that the call had or would have had alone. */
  readonly status: number;
  /** The error that kept the router's answer from coming. */
  readonly cause?: unknown;
}>;

/** The answer to a message, before it has been checked. */
export type Answer = Awaited<ReturnType<Exchange>>;
