import type { RPCFailure } from "../error.ts";
import type { BatchMessage, CallMessage } from "../protocol.ts";

/** Settings of one call. */
export interface CallOptions {
  /** Gives the call up; it rejects with the signal's reason. */
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
  /** What failed. */
  readonly error?: Partial<RPCFailure> | false | undefined;
  /** The HTTP status that the call had or would have had alone. */
  readonly status: number;
  /** What kept the router's own answer from coming. */
  readonly cause?: unknown;
}>;

/** The answer to a message, before it has been checked. */
export type Answer = Awaited<ReturnType<Exchange>>;
