/**
 * The types of calls: what a router's procedures look like to who calls them,
 * over the network or on the server.
 *
 * @module
 */

import type { Jsonify } from "../json.ts";
import type { Procedure, ProcedureKind } from "./procedure.ts";
import type { Wire } from "../server/router.ts";
import type { SchemaInput } from "./schema.ts";

/**
 * How an output reaches the caller: as JSON makes it, or as it is, because a
 * transformer carries it or because it never leaves the process.
 */
export type Delivery = Wire | "direct";

/** A call with input. */
export type CallFunction<Input, Output, Options> = (
  input: Input,
  options?: Options,
) => Promise<Output>;

/** A call whose input may be left out. */
export type OptionalCallFunction<Input, Output, Options> = (
  input?: Input,
  options?: Options,
) => Promise<Output>;

/** What happens to the values of a subscription. */
export interface SubscriptionHandlers<Output> {
  /** Gets each value. */
  readonly onData: (data: Output) => void;
  /** Gets what ended the subscription before its time. */
  readonly onError?: (error: Error) => void;
  /** Called when the server has sent everything. */
  readonly onComplete?: () => void;
}

/** A subscription with input. */
export interface SubscribeFunction<Input, Output, Options> {
  /** Hands each value over and gives what unsubscribes. */
  (input: Input, handlers: SubscriptionHandlers<Output> & Options): () => void;
  /** Gives the values one by one; leaving the loop unsubscribes. */
  (input: Input, options?: Options): AsyncIterableIterator<Output>;
}

/** A subscription whose input may be left out. */
export interface OptionalSubscribeFunction<Input, Output, Options> {
  /** Hands each value over and gives what unsubscribes. */
  (
    input: Input | undefined,
    handlers: SubscriptionHandlers<Output> & Options,
  ): () => void;
  /** Gives the values one by one; leaving the loop unsubscribes. */
  (input?: Input, options?: Options): AsyncIterableIterator<Output>;
}

// Each of the types below looks at one procedure, and only when it is called:
// of three hundred the compiler works out those that are used.

/** A procedure, as far as these types look at it. */
export type CallableProcedure =
  & Pick<Procedure<ProcedureKind>, "kind" | "input">
  & {
    readonly "~types"?: unknown;
  };

/**
 * What callers of a procedure pass.
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

/** What the handler of a procedure gives; of a subscription, each value. */
export type inferOutput<P> = P extends
  { readonly "~types"?: { readonly output: infer Output } } ? Output : never;

/** What a procedure's callers get. */
export type Delivered<P, How extends Delivery> = How extends "json"
  ? Jsonify<inferOutput<P>>
  : inferOutput<P>;

/** The calls of a router's definition. */
export type Calls<Def, How extends Delivery, Options, SubscribeOptions> = {
  readonly [K in keyof Def]: Def[K] extends CallableProcedure
    ? CallsOf<Def[K], How, Options, SubscribeOptions>
    : Def[K] extends { readonly _def: infer Nested }
      ? Calls<Nested, How, Options, SubscribeOptions>
    : Calls<Def[K], How, Options, SubscribeOptions>;
};

/** How one procedure is called. */
export type CallsOf<
  P extends CallableProcedure,
  How extends Delivery,
  Options,
  SubOptions,
> = P["kind"] extends "query" ? QueryCalls<P, How, Options>
  : P["kind"] extends "mutation" ? MutationCalls<P, How, Options>
  : [SubOptions] extends [never] ? never
  : SubscriptionCalls<P, How, SubOptions>;

/** A query, to those who call it. */
export interface QueryCalls<P, How extends Delivery, Options> {
  /** Asks for the query's output. */
  readonly query: CallOf<P, How, Options>;
}

/** A mutation, to those who call it. */
export interface MutationCalls<P, How extends Delivery, Options> {
  /** Runs the mutation. */
  readonly mutate: CallOf<P, How, Options>;
}

/** A subscription, to those who call it. */
export interface SubscriptionCalls<P, How extends Delivery, Options> {
  /** Subscribes. */
  readonly subscribe: undefined extends inferInput<P>
    ? OptionalSubscribeFunction<inferInput<P>, Delivered<P, How>, Options>
    : SubscribeFunction<inferInput<P>, Delivered<P, How>, Options>;
}

/** The function that calls one procedure. */
export type CallOf<P, How extends Delivery, Options> = undefined extends
  inferInput<P>
  ? OptionalCallFunction<inferInput<P>, Delivered<P, How>, Options>
  : CallFunction<inferInput<P>, Delivered<P, How>, Options>;
