/**
 * Types that the helpers share. They declare only as much of TanStack Query's as it
 * takes for it to infer the rest.
 *
 * @module
 */

import type { RPCClientError } from "../client/error.ts";

/** A query or mutation of a client or caller. */
export type CallLike<Input, Output> = (
  input: Input,
  options?: { readonly signal: AbortSignal },
) => Promise<Output>;

/** The data of a query: `null` for `undefined`, which TanStack Query refuses. */
export type DataOf<Output> = undefined extends Output
  ? Exclude<Output, undefined> | null
  : Output;

/** An option whose type tells TanStack Query that of errors. It isn't set. */
export interface ErrorOption {
  /** How long to wait before the next attempt, in milliseconds. */
  readonly retryDelay?: (
    failureCount: number,
    error: RPCClientError,
  ) => number;
}
