import { isResponse } from "../../core/http/is_response.ts";
import { isThenable } from "../../core/observe.ts";
import { getActiveSpan } from "../record/context.ts";
import type { Span } from "../types.ts";

/**
 * Marks the active span as failed and notes what was thrown.
 *
 * @param error What was thrown.
 *
 * @example
 * ```ts
 * import { traceError } from "@quartet/kit/trace";
 *
 * try {
 *   JSON.parse("{");
 * } catch (error) {
 *   traceError(error);
 * }
 * ```
 */
export function traceError(error: unknown): void {
  getActiveSpan()?.error(error);
}

/**
 * Wraps a function so that whatever it throws, or rejects with, is noted on
 * the span that is active then. It is thrown on all the same. A thrown
 * `Response` is an answer, not a failure.
 *
 * @param fn Any function.
 * @returns A function of the same type; `this` is kept. What it gives that has
 *   a `then` method, such as a lazy query, becomes a promise in a trace.
 *
 * @example
 * ```ts
 * import { withErrorCapture } from "@quartet/kit/trace";
 *
 * const parse = withErrorCapture((text: string) => JSON.parse(text));
 * console.assert(parse("1") === 1);
 * ```
 */
export function withErrorCapture<
  // deno-lint-ignore no-explicit-any -- the only way to accept any function
  F extends (this: any, ...args: any[]) => unknown,
>(fn: F): F {
  return function (this: ThisParameterType<F>, ...args: Parameters<F>) {
    const span = getActiveSpan();
    if (span === undefined) return fn.apply(this, args);
    let result: unknown;
    try {
      result = fn.apply(this, args);
    } catch (error) {
      capture(span, error);
      throw error;
    }
    if (!isThenable(result)) return result;
    return Promise.resolve(result).catch((error) => {
      capture(span, error);
      throw error;
    });
  } as F;
}

function capture(span: Span, error: unknown): void {
  if (!isResponse(error)) span.error(error);
}
