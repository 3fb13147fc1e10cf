/**
 * Runs a procedure: middlewares, validation of the input, handler. HTTP,
 * batches and `createCaller()` call `perform()`. Subscriptions on a socket call
 * `run()` in their own span.
 *
 * @module
 */

import { kindOf } from "../../core/check/show.ts";
import { type MaybePromise, whenDone } from "../../core/maybe_async.ts";
import { currentScope } from "../../core/request_scope.ts";
import { RPCError } from "../error.ts";
import {
  detailsOf,
  firstIssue,
  invalidFields,
  validate,
  type Validation,
} from "../procedure/validate.ts";
import { type Call, HandlerArguments } from "./call.ts";
import { invalidReason } from "./refusal_reason.ts";
import { runMiddlewares } from "./middlewares.ts";
import { inSpan, spanAttributes } from "./tracing.ts";

/**
 * Runs a procedure, in its own span if the caller is traced.
 *
 * @param input The unchecked input of the caller.
 * @param finish Converts the output to the answer. If it throws, the call
 * fails.
 * @returns The answer, or a promise of it if something waits.
 * @throws `VALIDATION_ERROR`, or any error of a middleware, the handler or
 * `finish`.
 */
export function perform<T>(
  call: Call,
  input: unknown,
  finish: (output: unknown) => T,
): MaybePromise<T> {
  const parent = currentScope()?.span;
  if (parent === undefined) return whenDone(run(call, input), finish);
  const span = parent.child(`rpc:${call.path}`, "rpc", spanAttributes(call));
  return inSpan(span, call, async () => finish(await run(call, input)));
}

/**
 * Runs a procedure.
 *
 * @param input The unchecked input of the caller.
 * @returns The handler's result, or a promise of it.
 * @throws `VALIDATION_ERROR`, or any error of a middleware, a schema's code or
 * the handler.
 */
export function run(call: Call, input: unknown): unknown {
  return call.procedure.middlewares.length === 0
    ? handle(call, new HandlerArguments(call), input)
    : runMiddlewares(call, (args) => handle(call, args, input));
}

function handle(call: Call, args: HandlerArguments, input: unknown): unknown {
  const { procedure, span } = call;
  if (procedure.input === undefined) return answer(call, args);
  const began = span === undefined ? 0 : performance.now();
  const checked = validate(procedure.input, input);
  return whenDone(checked, useInput, call, args, input, began);
}

/** Answers a call whose input is valid. */
function useInput(
  checked: Validation,
  call: Call,
  args: HandlerArguments,
  input: unknown,
  began: number,
): unknown {
  const { span } = call;
  const details = checked.valid ? undefined : detailsOf(checked.error, input);
  span?.event("rpc.validation", {
    "app.rpc.valid": checked.valid,
    "app.rpc.validation_duration": performance.now() - began,
    "app.rpc.invalid_fields": details && invalidFields(details),
  });
  if (details !== undefined) {
    span?.setAttribute("app.reason", invalidReason(details, input));
    const issue = firstIssue(details);
    const message = `Input validation failed for ${call.path}: ${issue}`;
    throw new RPCError("VALIDATION_ERROR", message, 400, { details });
  }
  args.input = (checked as { value: unknown }).value;
  return answer(call, args);
}

function answer(call: Call, args: HandlerArguments): unknown {
  const { procedure, span } = call;
  const checksOutput = procedure.output !== undefined &&
    procedure.kind !== "subscription";
  return checksOutput || span !== undefined
    ? answerLater(call, args, checksOutput)
    : procedure.handler(args as never);
}

async function answerLater(
  call: Call,
  args: HandlerArguments,
  checksOutput: boolean,
): Promise<unknown> {
  const { procedure, span } = call;
  const began = span === undefined ? 0 : performance.now();
  try {
    const output = await procedure.handler(args as never);
    return checksOutput ? await checkOutput(call, output) : output;
  } finally {
    span?.setAttribute("app.rpc.handler_duration", performance.now() - began);
  }
}

/**
 * Returns the output schema's result for a value, or the value itself without a
 * schema.
 *
 * @throws {TypeError} If the value is invalid. Errors of the schema's code are
 * rethrown.
 */
export async function checkOutput(
  { path, procedure: { output } }: Call,
  value: unknown,
): Promise<unknown> {
  if (output === undefined) return value;
  const checked = await validate(output, value);
  if (checked.valid) return checked.value;
  const details = JSON.stringify(detailsOf(checked.error, value));
  throw new TypeError(
    `Cannot answer ${path}: its output doesn't match its schema: ${details}`,
  );
}

/**
 * Returns the iterator of a subscription's result.
 *
 * @throws {TypeError} If the result isn't async iterable.
 */
export function toIterator(
  stream: unknown,
  path: string,
): AsyncIterator<unknown> {
  if (stream instanceof ReadableStream) {
    // The stream's own iterator would be cancelled only after its next chunk.
    const reader = stream.getReader();
    const next = () => reader.read() as Promise<IteratorResult<unknown>>;
    return {
      next,
      return: async () => ({ done: true, value: await reader.cancel() }),
    };
  }
  const iterable = Object(stream) as Partial<AsyncIterable<unknown>>;
  const iterator = iterable[Symbol.asyncIterator]?.();
  if (iterator !== undefined) return iterator;
  const received = kindOf(stream);
  throw new TypeError(
    `Cannot stream ${path}: its handler must be an async generator or return an AsyncIterable, received ${received}`,
  );
}
