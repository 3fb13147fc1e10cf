/**
 * Procedures, the parts of a router. A builder collects middlewares and an
 * output schema. Its methods `query`, `mutation` and `subscription` create a
 * procedure.
 *
 * @module
 */

import type { RequestContext } from "../../core/context.ts";
import { checkValue } from "../../core/check/options.ts";
import { aFunction } from "../../core/check/rules.ts";
import { noteDefinition } from "../../core/runtime/environment.ts";
import {
  aSchema,
  type Schema,
  type SchemaInput,
  type SchemaOutput,
} from "./schema.ts";
import type { Tracked } from "./tracked.ts";

/** The kind of a procedure: reads, writes, or streams. */
export type ProcedureKind = "query" | "mutation" | "subscription";

/**
 * Information about a call, for middlewares and handlers. `request`, `signal`
 * and `responseHeaders` are getters, so a copy by spreading doesn't have them.
 */
export interface CallInfo<Context> {
  /** The context of the request; see `rpcPlugin` and `createCaller`. */
  readonly ctx: Context;
  /**
   * The HTTP request. For a subscription, a copy of the one that opened the
   * socket, without a body.
   */
  readonly request: Request;
  /** Aborted if the caller disconnects before the procedure is done. */
  readonly signal: AbortSignal;
  /**
   * Headers of the response, such as cookies, also for failures. A failure isn't
   * cached, whatever these say. Headers of a thrown error take precedence. The
   * response of a batch has the headers of
   * all its calls, in order. Headers of the body, such as its type, can't be
   * set. A subscription has no response, so its headers are ignored.
   * `createCaller` passes them to its caller.
   */
  readonly responseHeaders: Headers;
  /** The procedure's dotted path. */
  readonly path: string;
  /** The procedure's kind. */
  readonly type: ProcedureKind;
}

/** Arguments of a query's or mutation's handler. */
export interface HandlerArgs<Input, Context> extends CallInfo<Context> {
  /** The parsed input. */
  readonly input: Input;
}

/** Arguments of a subscription's handler. */
export interface SubscriptionArgs<Input, Context>
  extends HandlerArgs<Input, Context> {
  /** The id of the last tracked value that a returning client has received. */
  readonly lastEventId: string | undefined;
}

/** Arguments of a middleware. */
export interface MiddlewareArgs<Context> extends CallInfo<Context> {
  /**
   * Continues the call; call it once. Later middlewares and the handler get the
   * given fields. Rejects with their errors.
   */
  readonly next: <
    Added extends
      & object
      & {
        readonly [K in keyof SubscriptionArgs<never, never>]?: never;
      } = Record<never, never>,
  >(added?: Added) => Promise<NextResult<Added>>;
}

/** The result of `next()`, which a middleware returns. */
export interface NextResult<Added> {
  /** The procedure's output, or the stream of a subscription. */
  readonly output: unknown;
  /** For the compiler only. */
  readonly "~added"?: Added;
}

/** Code around a procedure. Returns the result of `next()`, or throws. */
export type ProcedureMiddleware<
  Context = RequestContext,
  Added = Record<never, never>,
  Before = Record<never, never>,
> = (args: MiddlewareArgs<Context> & Before) => Promise<NextResult<Added>>;

/** A procedure. Create one with {@linkcode procedure}. */
export interface Procedure<
  Kind extends ProcedureKind = ProcedureKind,
  Input = unknown,
  Output = unknown,
> {
  /** Reads, writes, or streams. */
  readonly kind: Kind;
  /** The schema of the input. Without one, input isn't passed on. */
  // The whole schema instead of its two types, so that the compiler resolves
  // the types of called procedures only.
  readonly input: Input;
  /** The schema of the output, if there is one. */
  readonly output: Schema | undefined;
  /** The middlewares, outermost first. */
  readonly middlewares: readonly ProcedureMiddleware<never, unknown, never>[];
  /** The handler. */
  readonly handler: (args: never) => unknown;
  /** For the compiler only. */
  readonly "~types"?: { readonly output: Output };
}

/** Defines a query or a mutation, with or without input. */
export interface DefineProcedure<
  Kind extends ProcedureKind,
  Context,
  Added,
  Out,
> {
  /** Without input. */
  <Output extends SchemaInput<Out, unknown>>(
    handler: (
      args: HandlerArgs<undefined, Context> & Added,
    ) => Output | PromiseLike<Output>,
  ): Procedure<Kind, undefined, SchemaOutput<Out, Output>>;
  /** With input, validated by the schema. */
  <S extends Schema, Output extends SchemaInput<Out, unknown>>(
    input: S,
    handler: (
      args: HandlerArgs<SchemaOutput<S>, Context> & Added,
    ) => Output | PromiseLike<Output>,
  ): Procedure<Kind, S, SchemaOutput<Out, Output>>;
}

/**
 * Creates procedures. Methods don't change the builder, so keep one under a
 * name, as in `const authed = procedure.use(…)`, and reuse it.
 *
 * @typeParam Added The fields that middlewares have added.
 * @typeParam Out The output schema, or `undefined`.
 */
export interface ProcedureBuilder<Context, Added, Out = undefined> {
  /** Sets the type of `ctx`. */
  context<NewContext>(): ProcedureBuilder<NewContext, Added, Out>;

  /**
   * Adds a middleware inside the earlier ones. Its fields replace earlier ones
   * of the same name.
   */
  use<More>(
    middleware: ProcedureMiddleware<Context, More, Added>,
  ): ProcedureBuilder<
    Context,
    keyof Added & keyof More extends never ? Added & More
      : Omit<Added, keyof More> & More,
    Out
  >;

  /**
   * Sets the schema of the output, or of each value of a subscription. An
   * invalid output is an `INTERNAL_ERROR`.
   */
  output<S extends Schema>(schema: S): ProcedureBuilder<Context, Added, S>;

  /**
   * Creates a procedure that reads. Clients call it with GET, so it must not
   * write.
   */
  readonly query: DefineProcedure<"query", Context, Added, Out>;
  /** Creates a procedure that writes. */
  readonly mutation: DefineProcedure<"mutation", Context, Added, Out>;

  /** Creates a procedure that streams the values of its async generator. */
  subscription<
    Output extends
      | SchemaInput<Out, unknown>
      | Tracked<SchemaInput<Out, unknown>>,
  >(
    handler: (
      args: SubscriptionArgs<undefined, Context> & Added,
    ) => AsyncIterable<Output> | PromiseLike<AsyncIterable<Output>>,
  ): Procedure<
    "subscription",
    undefined,
    SchemaOutput<Out, Output extends Tracked<infer Value> ? Value : Output>
  >;
  /** Creates a procedure that streams, with input. */
  subscription<
    S extends Schema,
    Output extends
      | SchemaInput<Out, unknown>
      | Tracked<SchemaInput<Out, unknown>>,
  >(
    input: S,
    handler: (
      args: SubscriptionArgs<SchemaOutput<S>, Context> & Added,
    ) => AsyncIterable<Output> | PromiseLike<AsyncIterable<Output>>,
  ): Procedure<
    "subscription",
    S,
    SchemaOutput<Out, Output extends Tracked<infer Value> ? Value : Output>
  >;
}

/**
 * The builder of procedures.
 *
 * @example
 * ```ts
 * import { createRouter, errors, procedure } from "@quartet/kit/rpc";
 * import { z } from "zod";
 *
 * const authed = procedure.use(({ ctx, next }) => {
 *   const user: string | undefined = ctx.get("user");
 *   if (user === undefined) throw errors.unauthorized();
 *   return next({ user });
 * });
 * const api = createRouter({
 *   greet: authed.query(
 *     z.object({ greeting: z.string().default("hello") }),
 *     ({ input, user }) => `${input.greeting}, ${user}`,
 *   ),
 * });
 * console.assert(api._def.greet.kind === "query");
 * ```
 */
export const procedure: ProcedureBuilder<RequestContext, Record<never, never>> =
  createBuilder([]);

function createBuilder(
  middlewares: Procedure["middlewares"],
  output?: Schema,
): ProcedureBuilder<RequestContext, Record<never, never>> {
  const finish = (kind: ProcedureKind) => (...args: unknown[]): Procedure => {
    const [input, handler] =
      (args.length > 1 ? args : [undefined, args[0]]) as [unknown, Handler];
    const operation = `define a ${kind}`;
    if (args.length > 1) checkValue(input, "its input", aSchema, operation);
    checkValue(handler, "its handler", aFunction, operation);
    noteDefinition(handler);
    return { kind, input, output, middlewares, handler };
  };
  const builder = {
    context: () => builder,
    use(middleware: Procedure["middlewares"][number]) {
      checkValue(middleware, "a middleware", aFunction, DEFINE);
      return createBuilder([...middlewares, middleware], output);
    },
    output(schema: Schema) {
      checkValue(schema, "its output", aSchema, DEFINE);
      return createBuilder(middlewares, schema);
    },
    query: finish("query"),
    mutation: finish("mutation"),
    subscription: finish("subscription"),
  };
  // The builder's types are for its users. The implementation has none.
  return builder as never;
}

const DEFINE = "define a procedure";

type Handler = Procedure["handler"];
