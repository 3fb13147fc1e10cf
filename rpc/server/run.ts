/**
 * Runs a procedure: middlewares, then the check of the input, then the
 * handler.
 *
 * @module
 */

import type { ObservedSpan } from "../../core/observed_span.ts";
import { RPCError } from "../error.ts";
import type { CallInfo, ProcedureKind } from "../procedure/procedure.ts";
import {
  invalidFields,
  sanitizeValidationError,
  validate,
  type Validation,
} from "../procedure/validate.ts";
import type { Call, Endpoint } from "./call.ts";

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

  get responseHeaders(): Headers {
    return this.#call.responseHeaders;
  }
}

/**
 * Runs a procedure.
 *
 * @param input What the caller sent, unchecked.
 * @returns What the handler returns, or a promise of it.
 * @throws `VALIDATION_ERROR`, or any error of a middleware, a schema's code or
 * the handler.
 */
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
  const { kind, middlewares } = procedure;
  let fields: Record<string, unknown> = {};
  let stream: unknown;
  let failed = false;
  const results = new WeakSet<object>();

  const step = async (index: number): Promise<{ output: unknown }> => {
    const args = Object.assign(new HandlerArguments(call), fields);
    const middleware = middlewares[index];
    if (middleware === undefined) {
      const result = { output: await handle(procedure, call, args, input) };
      results.add(result);
      if (kind === "subscription") {
        stream = result.output;
        if (failed) endStream(stream);
      }
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

  try {
    return (await step(0)).output;
  } catch (error) {
    failed = true;
    endStream(stream);
    throw error;
  }
}

/** Ends a stream that nobody is going to read, such as one of a channel. */
async function endStream(stream: unknown): Promise<void> {
  const iterable = Object(stream) as Partial<AsyncIterable<unknown>>;
  try {
    await iterable[Symbol.asyncIterator]?.().return?.();
  } catch {
    // The failure that made it useless is the one to tell of.
  }
}

const OWN_FIELDS: readonly string[] = [
  "input",
  "ctx",
  "request",
  "signal",
  "responseHeaders",
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
  const checked = validate(procedure.input, input);
  return checked instanceof Promise
    ? checked.then((checked) => accept(procedure, args, span, checked, began))
    : accept(procedure, args, span, checked, began);
}

function accept(
  procedure: Endpoint["procedure"],
  args: HandlerArguments,
  span: ObservedSpan | undefined,
  checked: Validation,
  began: number,
): unknown {
  if (span !== undefined) {
    span.event("rpc.validation", {
      "app.rpc.valid": checked.valid,
      "app.rpc.validation_duration": performance.now() - began,
      "app.rpc.invalid_fields": checked.valid
        ? undefined
        : invalidFields(checked.error),
    });
  }
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
  const checksOutput = procedure.output !== undefined &&
    procedure.kind !== "subscription";
  return checksOutput || span !== undefined
    ? answerLater(procedure, args, span, checksOutput)
    : procedure.handler(args);
}

async function answerLater(
  procedure: Endpoint["procedure"],
  args: HandlerArguments,
  span: ObservedSpan | undefined,
  checksOutput: boolean,
): Promise<unknown> {
  const began = span === undefined ? 0 : performance.now();
  try {
    const output = await procedure.handler(args);
    return checksOutput
      ? await checkOutput(procedure, args.path, output)
      : output;
  } finally {
    span?.setAttribute("app.rpc.handler_duration", performance.now() - began);
  }
}

/**
 * Returns the output schema's result for a value, or the value itself without a
 * schema.
 *
 * @throws {TypeError} If the schema refuses it. Errors of the schema's code are
 * rethrown.
 */
export async function checkOutput(
  { output }: Endpoint["procedure"],
  path: string,
  value: unknown,
): Promise<unknown> {
  if (output === undefined) return value;
  const checked = await validate(output, value);
  if (checked.valid) return checked.value;
  throw new TypeError(
    `Cannot answer ${path}: its output schema refuses what the handler gave: ${
      JSON.stringify(sanitizeValidationError(checked.error))
    }`,
  );
}

/**
 * Returns the iterator of a subscription's result.
 *
 * @throws {TypeError} If the handler returned nothing iterable.
 */
export function toIterator(
  stream: unknown,
  path: string,
): AsyncIterator<unknown> {
  const iterable = Object(stream) as Partial<AsyncIterable<unknown>>;
  const iterator = iterable[Symbol.asyncIterator]?.();
  if (iterator !== undefined) return iterator;
  throw new TypeError(
    `Cannot stream ${path}: its handler must be an async generator or return an AsyncIterable`,
  );
}
