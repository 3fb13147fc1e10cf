/**
 * The wire format between server and client.
 *
 * With a transformer, `input` and `data` are strings that hold its text.
 *
 * @module
 */

import type { RPCFailure } from "./error.ts";

/** The body of every HTTP response. */
export type Envelope =
  | { readonly ok: true; readonly data?: unknown }
  | { readonly ok: false; readonly error: RPCFailure };

/** The body of a POST. */
export interface CallMessage {
  /** The keys of the procedure's path. */
  readonly path: readonly string[];
  /** The kind of procedure that the caller expects. */
  readonly type: "query" | "mutation";
  /** The input of the procedure. */
  readonly input?: unknown;
}

/**
 * The body of a POST with several calls. `data` of the response is a list of
 * their envelopes. A failure's envelope also has its `status`.
 */
export interface BatchMessage {
  /** The calls. They run concurrently. */
  readonly batch: readonly CallMessage[];
}

/** A message of a client over a socket. */
export type ClientMessage =
  | {
    readonly type: "subscribe";
    /** The id of the subscription, unique within the connection. */
    readonly id: string;
    readonly path: readonly string[];
    readonly input?: unknown;
    /** The last known position before a break. */
    readonly lastEventId?: string | undefined;
    /**
     * The caller's span, as in W3C Trace Context. The subscription continues
     * its trace if the request that opened the socket is traced. A malformed
     * one is ignored.
     */
    readonly traceparent?: string;
  }
  | { readonly type: "unsubscribe"; readonly id: string }
  | { readonly type: "ping" };

/** A message of a server over a socket. */
export type ServerMessage =
  | {
    /** Sent before the first `data` if the position is known. */
    readonly type: "started";
    readonly id: string;
    /** The position at which the subscription begins. */
    readonly eventId: string;
  }
  | {
    readonly type: "data";
    readonly id: string;
    readonly data?: unknown;
    /** The position after a tracked value: its id. */
    readonly eventId?: string;
  }
  | {
    readonly type: "error";
    /** `null` if the message's id can't be read. */
    readonly id: string | null;
    readonly error: RPCFailure;
  }
  | { readonly type: "complete"; readonly id: string }
  | { readonly type: "pong" };

/**
 * Turns values into text and back: `JSON`, or the modules `devalue` and
 * `superjson`, which also carry `Date`, `Map`, `Set`, `bigint`, `undefined` and
 * more. Server and client need the same one.
 */
export interface Transformer {
  /** Returns the text of a value, for `parse`. */
  stringify(value: unknown): string;
  /** Returns the value of a text. Throws if the text is malformed. */
  parse(text: string): unknown;
}
