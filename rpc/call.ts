/**
 * One call of a procedure: middlewares, then the check of the input, then the
 * handler. HTTP, sockets and callers on the server all come through here.
 *
 * @module
 */

import { currentScope, isThenable, runSpan } from "../app/scope.ts";
import type { Attributes, ObservedSpan } from "../app/scope.ts";
import { RPCError } from "./error.ts";
import type { CallInfo, Procedure, ProcedureKind } from "./procedure.ts";
import { check, sanitizeValidationError } from "./schema.ts";
import type { Check, Schema } from "./schema.ts";

/** Where a call comes from. */
export interface CallSource {
  /** The request, or whatever explains why there is none by throwing. */
  readonly request: Request;
  /** Aborted when the caller goes away; it may also be after the call. */
  readonly signal: AbortSignal;
  /** The id of the last value that a returning subscriber has seen. */
  readonly lastEventId?: string | undefined;
}

/** What stays the same while a call runs. */
export class Call implements CallInfo<unknown> {
  readonly ctx: unknown;
  readonly path: string;
  readonly type: ProcedureKind;
  /** The span of this call, when it is traced. */
  span: ObservedSpan | undefined = undefined;
  /** Whether the procedure is done, so that nobody can leave it any more. */
  settled = false;
  readonly #source: CallSource;
  #signal: AbortSignal | undefined = undefined;

  constructor(
    { path, procedure }: Endpoint,
    ctx: unknown,
    source: CallSource,
  ) {
    this.ctx = ctx;
    this.path = path;
    this.type = procedure.kind;
    this.#source = source;
  }

  get request(): Request {
    return this.#source.request;
  }

  get lastEventId(): string | undefined {
    return this.#source.lastEventId;
  }

  /**
   * A signal of its own, made when first asked for: that of a request costs
   * more to make than the call, and Deno aborts it after success as well.
   */
  get signal(): AbortSignal {
    return this.#signal ??= this.#follow(this.#source.signal);
  }

  /** Whether `error` is how the procedure says that its caller has gone. */
  isAbandonedBy(error: unknown): boolean {
    const signal = this.#signal;
    if (!signal?.aborted) return false;
    return error === signal.reason ||
      (error instanceof Error && error.name === "AbortError");
  }

  #follow(source: AbortSignal): AbortSignal {
    const controller = new AbortController();
    const abort = () => {
      if (!this.settled) controller.abort(source.reason);
    };
    if (source.aborted) abort();
    else source.addEventListener("abort", abort, { once: true });
    return controller.signal;
  }
}

/** A procedure at its place in a router. */
export interface Endpoint {
  /** Its dotted path. */
  readonly path: string;
  /** The procedure. */
  readonly procedure: Procedure<ProcedureKind, Schema | undefined>;
}

/** What a handler is called with, beside the fields of middlewares. */
class HandlerArguments implements CallInfo<unknown> {
  input: unknown = undefined;
  readonly ctx: unknown;
  readonly path: string;
  readonly type: ProcedureKind;
  readonly lastEventId: string | undefined;
  readonly #call: Call;

  constructor(call: Call) {
    this.ctx = call.ctx;
    this.path = call.path;
    this.type = call.type;
    this.lastEventId = call.lastEventId;
    this.#call = call;
  }

  get request(): Request {
    return this.#call.request;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}

/**
 * Runs a procedure, in a span of its own if the caller is traced.
 *
 * @param input What the caller sent, unchecked.
 * @param finish Makes the answer of the output; if it fails, the call has.
 * @returns The answer; a promise of it if anything had to be waited for.
 * @throws What a middleware, the handler or `finish` throws, or
 * `VALIDATION_ERROR`.
 */
export function perform<T>(
  endpoint: Endpoint,
  call: Call,
  input: unknown,
  finish: (output: unknown) => T,
): T | Promise<T> {
  const parent = currentScope()?.span;
  if (parent !== undefined) {
    const span = parent.child(`rpc:${call.path}`, "rpc", spanAttributes(call));
    return inSpan(
      span,
      call,
      async () => finish(await run(endpoint, call, input)),
    );
  }
  const output = run(endpoint, call, input);
  return isThenable(output) ? finishLater(output, finish) : finish(output);
}

async function finishLater<T>(
  output: PromiseLike<unknown>,
  finish: (output: unknown) => T,
): Promise<T> {
  return finish(await output);
}

/** What a span tells of a call from its beginning. */
export function spanAttributes({ path, type }: Call): Attributes {
  return {
    "rpc.system.name": "quartet",
    "rpc.method": path,
    "app.rpc.type": type,
  };
}

/**
 * Runs `fn` in the span of a call. An error that is meant for the caller is
 * noted, but only one that is not makes the span a failed one.
 */
export async function inSpan<T>(
  span: ObservedSpan,
  call: Call,
  fn: () => T | Promise<T>,
): Promise<T> {
  call.span = span;
  let thrown: { error: unknown } | undefined;
  const result = await runSpan(span, async () => {
    try {
      return await fn();
    } catch (error) {
      thrown = { error };
      if (error instanceof RPCError) {
        span.setAttribute("rpc.status_code", error.code);
      }
      if (isFault(error)) span.error(error);
    }
  });
  if (thrown !== undefined) throw thrown.error;
  return result as T;
}

function isFault(error: unknown): boolean {
  if (error instanceof RPCError) return error.status >= 500;
  return !(error instanceof Response);
}

/** Runs a procedure, untraced. */
export function run(
  { procedure }: Endpoint,
  call: Call,
  input: unknown,
): unknown {
  return procedure.middlewares.length === 0
    ? handle(procedure, call, new HandlerArguments(call), input)
    : runMiddlewares(procedure, call, input);
}

async function runMiddlewares(
  procedure: Endpoint["procedure"],
  call: Call,
  input: unknown,
): Promise<unknown> {
  const { middlewares } = procedure;
  let fields: Record<string, unknown> = {};
  const results = new WeakSet<object>();

  const step = async (index: number): Promise<{ output: unknown }> => {
    const args = Object.assign(new HandlerArguments(call), fields);
    const middleware = middlewares[index];
    if (middleware === undefined) {
      const result = { output: await handle(procedure, call, args, input) };
      results.add(result);
      return result;
    }
    let called = false;
    const next = (added?: Record<string, unknown>) => {
      if (called) {
        throw new Error(
          `Cannot call next() twice: a middleware of ${call.path} did`,
        );
      }
      called = true;
      if (added !== undefined) fields = { ...fields, ...checkFields(added) };
      const result = step(index + 1);
      // A middleware that doesn't wait for it must not end the process.
      result.catch(() => {});
      return result;
    };
    const result = await middleware(Object.assign(args, { next }));
    if (results.has(result)) return result;
    throw new TypeError(
      `Cannot answer ${call.path}: a middleware must return what next() gives`,
    );
  };

  return (await step(0)).output;
}

const OWN_FIELDS: readonly string[] = [
  "input",
  "ctx",
  "request",
  "signal",
  "path",
  "type",
  "lastEventId",
  "next",
];

function checkFields(added: Record<string, unknown>): Record<string, unknown> {
  for (const key of OWN_FIELDS) {
    if (!Object.hasOwn(added, key)) continue;
    throw new TypeError(
      `Cannot add ${key} with next(): it is a field that every handler has`,
    );
  }
  return added;
}

function handle(
  procedure: Endpoint["procedure"],
  call: Call,
  args: HandlerArguments,
  input: unknown,
): unknown {
  const { span } = call;
  if (procedure.input === undefined) return answer(procedure, args, span);
  const began = span === undefined ? 0 : performance.now();
  const checked = check(procedure.input, input);
  return checked instanceof Promise
    ? checked.then((checked) => accept(procedure, args, span, checked, began))
    : accept(procedure, args, span, checked, began);
}

function accept(
  procedure: Endpoint["procedure"],
  args: HandlerArguments,
  span: ObservedSpan | undefined,
  checked: Check,
  began: number,
): unknown {
  span?.event("rpc.validation", {
    "app.rpc.valid": checked.valid,
    "app.rpc.validation_duration": performance.now() - began,
  });
  if (!checked.valid) {
    throw new RPCError("VALIDATION_ERROR", "Input validation failed", 400, {
      details: sanitizeValidationError(checked.error),
    });
  }
  args.input = checked.value;
  return answer(procedure, args, span);
}

function answer(
  procedure: Endpoint["procedure"],
  args: HandlerArguments,
  span: ObservedSpan | undefined,
): unknown {
  if (span !== undefined) return answerTimed(procedure, args, span);
  if (procedure.output === undefined || procedure.kind === "subscription") {
    return procedure.handler(args);
  }
  return answerChecked(procedure, args);
}

async function answerTimed(
  procedure: Endpoint["procedure"],
  args: HandlerArguments,
  span: ObservedSpan,
): Promise<unknown> {
  const began = performance.now();
  try {
    return await answer(procedure, args, undefined);
  } finally {
    span.setAttribute("app.rpc.handler_duration", performance.now() - began);
  }
}

async function answerChecked(
  procedure: Endpoint["procedure"],
  args: HandlerArguments,
): Promise<unknown> {
  return await checkOutput(procedure, args.path, await procedure.handler(args));
}

/** What the output schema makes of a value; the value itself without one. */
export async function checkOutput(
  { output }: Endpoint["procedure"],
  path: string,
  value: unknown,
): Promise<unknown> {
  if (output === undefined) return value;
  const checked = await check(output, value);
  if (checked.valid) return checked.value;
  throw new TypeError(
    `Cannot answer ${path}: its output schema refuses what the handler gave: ${
      JSON.stringify(sanitizeValidationError(checked.error))
    }`,
  );
}
