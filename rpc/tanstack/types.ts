/**
 * Types that the helpers share. They declare just enough of TanStack Query's
 * types for inference.
 *
 * @module
 */

import type { RPCClientError } from "../client/error.ts";

/** A query or mutation of a client or caller. */
export type CallLike<Input, Output> = (
  input: Input,
  options?: { readonly signal: AbortSignal },
) => Promise<Output>;

/**
 * The data of a query: `null` for `undefined`, which TanStack Query rejects.
 */
export type DataOf<Output> = undefined extends Output
  ? Exclude<Output, undefined> | null
  : Output;

/**
 * Options for their type only: TanStack Query infers the type of errors from
 * them. `useQueries()` infers it from `throwOnError` alone.
 */
export interface ErrorOption {
  /** Delay of the next attempt, in milliseconds. */
  readonly retryDelay?: (failures: number, error: RPCClientError) => number;
  /** Whether the component throws the error. */
  readonly throwOnError?: (error: RPCClientError) => boolean;
}
