/**
 * The wire format, which is all that server and client share.
 *
 * With a transformer, `input` and `data` are strings that hold its text.
 *
 * @module
 */

import type { RPCFailure } from "./error.ts";

/** The body of every HTTP answer. */
export type Envelope =
  | { readonly ok: true; readonly data?: unknown }
  | { readonly ok: false; readonly error: RPCFailure };

/** The body of a POST. */
export interface CallMessage {
  /** The procedure's path, a key an element. */
  readonly path: readonly string[];
  /** The kind that the caller expects. */
  readonly type: "query" | "mutation";
  /** The input of the procedure. */
  readonly input?: unknown;
}

/**
 * The body of a POST with several calls; `data` of the answer holds their
 * envelopes, those of failures with the `status` that they would have had.
 */
export interface BatchMessage {
  /** The calls. They run side by side. */
  readonly batch: readonly CallMessage[];
}

/** A message of a client over a socket. */
export type ClientMessage =
  | {
    readonly type: "subscribe";
    /** Names the subscription, on this connection only. */
    readonly id: string;
    readonly path: readonly string[];
    readonly input?: unknown;
    /** The last position that was known before a break. */
    readonly lastEventId?: string | undefined;
  }
  | { readonly type: "unsubscribe"; readonly id: string }
  | { readonly type: "ping" };

/** A message of a server over a socket. */
export type ServerMessage =
  | {
    /** Comes before the first `data`, if the position is known by then. */
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
    /** `null` if the message it answers to has no id that can be read. */
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
  /** Returns text from which `parse` makes an equal value. */
  stringify(value: unknown): string;
  /** Returns the value of a text; throws if the text is malformed. */
  parse(text: string): unknown;
}
