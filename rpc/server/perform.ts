/**
 * Performs calls in spans of their own. HTTP, batches and callers on the
 * server all come through here; subscriptions have their own beginning.
 *
 * @module
 */

import { isResponse } from "../../core/http/is_response.ts";
import { isThenable, runSpan } from "../../core/observe.ts";
import { currentScope } from "../../core/request_scope.ts";
import type { Attributes, ObservedSpan } from "../../core/observed_span.ts";
import type { Call, Endpoint } from "./call.ts";
import { isA, RPCError } from "../error.ts";
import { run } from "./run.ts";

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
      if (isA(error, RPCError)) {
        span.setAttribute("rpc.status_code", error.code);
      }
      if (isFault(error)) span.error(error);
    }
  });
  if (thrown !== undefined) throw thrown.error;
  return result as T;
}

function isFault(error: unknown): boolean {
  if (isA(error, RPCError)) return error.status >= 500;
  return !isResponse(error);
}
