/**
 * Runs a procedure: middlewares, validation of the input, handler. HTTP,
 * batches and `createCaller()` call `perform()`. Subscriptions on a socket call
 * `run()` in their own span.
 *
 * @module
 */

import { kindOf } from "../../core/check/rules.ts";
import { isResponse } from "../../core/http/message.ts";
import { type MaybePromise, whenDone } from "../../core/promises.ts";
import { currentScope, runWithin } from "../../core/request_scope.ts";
import { RPCError } from "../error.ts";
import {
  countIssues,
  detailsOf,
  firstIssue,
  invalidFields,
  validate,
  type Validation,
} from "../procedure/validate.ts";
import type { Transformer } from "../protocol.ts";
import { type Call, HandlerArguments } from "./call.ts";
import { invalidReason } from "./report.ts";
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
    const count = countIssues((checked as { error?: unknown }).error);
    span?.setAttribute("app.reason", invalidReason(details, input, count));
    const issue = firstIssue(details, count);
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
 * Returns the member of an answer that contains an output. `undefined` has none.
 *
 * @throws {TypeError} If JSON can't represent it. Errors of the transformer are
 * rethrown.
 */
export function dataMember(
  output: unknown,
  transformer: Transformer | undefined,
): string {
  if (isResponse(output)) {
    throw new TypeError(
      "Cannot answer a call: its output must be data, received a Response; return what it contains, or throw an RPCError",
    );
  }
  if (transformer !== undefined) output = transformer.stringify(output);
  try {
    const text = JSON.stringify(output) as string | undefined;
    return text === undefined ? "" : `,"data":${text}`;
  } catch (cause) {
    throw new TypeError(
      "Cannot answer a call: JSON can't represent its output; set a transformer for the router",
      { cause },
    );
  }
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

/**
 * Runs the middlewares of a procedure around its handler. Ends the stream of a
 * subscription if one of them fails.
 *
 * @param handle Runs the handler.
 */
async function runMiddlewares(
  call: Call,
  handle: (args: HandlerArguments) => unknown,
): Promise<unknown> {
  const { kind, middlewares } = call.procedure;
  let fields: Record<string, unknown> = {};
  let stream: unknown;
  let failed = false;
  const results = new WeakSet<object>();
  const begun = currentScope();

  const step = async (index: number): Promise<{ output: unknown }> => {
    const args = Object.assign(new HandlerArguments(call), fields);
    const middleware = middlewares[index];
    if (middleware === undefined) {
      const result = { output: await handle(args) };
      results.add(result);
      if (kind === "subscription") {
        stream = result.output;
        if (failed) endStream(stream);
      }
      return result;
    }
    const scope = currentScope();
    let called = false;
    const next = (added?: Record<string, unknown>) => {
      if (called) {
        throw new Error(
          `Cannot call next() twice: a middleware of ${call.path} did`,
        );
      }
      called = true;
      if (added !== undefined) fields = { ...fields, ...checkFields(added) };
      const result = runWithin(begun, scope, step, index + 1);
      // A middleware that doesn't await it must not end the process.
      result.catch(() => {});
      return result;
    };
    const result = await middleware(Object.assign(args, { next }) as never);
    if (results.has(result)) return result;
    throw new TypeError(
      `Cannot answer ${call.path}: a middleware must return the result of next()`,
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

/** Ends a stream that won't be read, such as a channel's. */
async function endStream(stream: unknown): Promise<void> {
  const iterable = Object(stream) as Partial<AsyncIterable<unknown>>;
  try {
    await iterable[Symbol.asyncIterator]?.().return?.();
  } catch {
    // The original failure is reported instead.
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
      `Cannot add ${key} with next(): every handler has that field`,
    );
  }
  return added;
}
