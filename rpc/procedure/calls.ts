/**
 * The types of calls: a router's procedures as callers see them, over the
 * network or on the server.
 *
 * @module
 */

import type { Jsonify } from "../json.ts";
import type { ProcedureKind } from "./procedure.ts";
import type { SchemaInput } from "./schema.ts";

/**
 * Calls a query or a mutation. An input that may be `undefined` is optional.
 */
export type CallFunction<Input, Output, Options> = (
  ...args: undefined extends Input ? [input?: Input, options?: Options]
    : [input: Input, options?: Options]
) => Promise<Output>;

/** Opens a subscription. An input that may be `undefined` is optional. */
export interface SubscribeFunction<Input, Output, Options, Failure = Error> {
  /** Passes each value to a handler. Returns a function that unsubscribes. */
  (
    input: Input,
    handlers: SubscriptionHandlers<Output, Failure> & Options,
  ): () => void;
  /** Returns an iterator of the values. Leaving the loop unsubscribes. */
  (
    ...args: undefined extends Input ? [input?: Input, options?: Options]
      : [input: Input, options?: Options]
  ): AsyncIterableIterator<Output>;
}

/**
 * Handlers of a subscription.
 *
 * @typeParam Failure The errors of `onError`: `RPCClientError` for a client,
 * any `Error` for `createCaller()`.
 */
export interface SubscriptionHandlers<Output, Failure = Error> {
  /** Called with each value. */
  readonly onData: (data: Output) => void;
  /**
   * Called with the error that ended the subscription. Default: logs it. A
   * client doesn't pass on an error that `onData` throws: it is uncaught.
   */
  readonly onError?: (error: Failure) => void;
  /** Called when the subscription has ended. */
  readonly onComplete?: () => void;
}

/**
 * The input that callers of a procedure pass.
 *
 * @example
 * ```ts
 * import { procedure } from "@quartet/kit/rpc";
 * import type { inferInput } from "@quartet/kit/rpc";
 * import { z } from "zod";
 *
 * const list = procedure.query(
 *   z.object({ size: z.number().default(20) }),
 *   ({ input }) => input.size,
 * );
 * const input: inferInput<typeof list> = {};
 * console.assert(input.size === undefined);
 * ```
 */
export type inferInput<P> = P extends { readonly input: infer S }
  ? SchemaInput<S>
  : never;

/**
 * The output of a procedure's handler, or each value of a subscription.
 *
 * @typeParam As `"json"` for the output after it has been sent as JSON.
 */
export type inferOutput<P, As = "direct"> = P extends
  { readonly "~types"?: { readonly output: infer Output } }
  ? As extends "json" ? Jsonify<Output> : Output
  : never;

/** The inputs that callers pass, for each procedure of a router. */
export type inferRouterInputs<R> = R extends { readonly _def: infer Def } ? {
    readonly [K in keyof Def]: Def[K] extends { readonly kind: ProcedureKind }
      ? inferInput<Def[K]>
      : Def[K] extends { readonly _def: unknown } ? inferRouterInputs<Def[K]>
      : inferRouterInputs<{ readonly _def: Def[K] }>;
  }
  : never;

/**
 * The outputs that a client gets, for each procedure of a router. They are as
 * sent in JSON, unless the router has a transformer.
 */
export type inferRouterOutputs<R> = R extends
  { readonly _def: infer Def; readonly "~wire"?: infer As } ? {
    readonly [K in keyof Def]: Def[K] extends { readonly kind: ProcedureKind }
      ? inferOutput<Def[K], As>
      : inferRouterOutputs<{
        readonly _def: Def[K] extends { readonly _def: infer Inner } ? Inner
          : Def[K];
        readonly "~wire"?: As;
      }>;
  }
  : never;

/**
 * The calls of a router's definition. The compiler resolves only the used ones.
 *
 * @typeParam As `"json"` if outputs are sent as JSON.
 * @typeParam SubscribeOptions `never` for callers without subscriptions.
 * @typeParam Failure The errors of a subscription's `onError`.
 */
export type Calls<Def, As, Options, SubscribeOptions, Failure = Error> = {
  readonly [K in keyof Def]: Def[K] extends
    { readonly kind: infer Kind extends ProcedureKind }
    ? Kind extends "query" ? {
        /** Runs the query. */
        readonly query: CallFunction<
          inferInput<Def[K]>,
          inferOutput<Def[K], As>,
          Options
        >;
      }
    : Kind extends "mutation" ? {
        /** Runs the mutation. */
        readonly mutate: CallFunction<
          inferInput<Def[K]>,
          inferOutput<Def[K], As>,
          Options
        >;
      }
    : [SubscribeOptions] extends [never] ? never
    : {
      /** Subscribes. */
      readonly subscribe: SubscribeFunction<
        inferInput<Def[K]>,
        inferOutput<Def[K], As>,
        SubscribeOptions,
        Failure
      >;
    }
    : Def[K] extends { readonly _def: infer Inner }
      ? Calls<Inner, As, Options, SubscribeOptions, Failure>
    : Calls<Def[K], As, Options, SubscribeOptions, Failure>;
};
