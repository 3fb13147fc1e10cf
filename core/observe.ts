/**
 * Opens spans for the host and the modules, which don't know the tracer.
 *
 * @module
 */

import { isResponse } from "./http/message.ts";
import { isThenable } from "./promises.ts";
import type { Layer, ObservedSpan } from "./observed_span.ts";
import { currentScope, RequestScope, runInScope } from "./request_scope.ts";

/**
 * Runs `fn` in a child of the current span. The child ends when `fn` has returned
 * or its promise has settled. Outside a trace, it only runs `fn`.
 *
 * An error is recorded on the span and rethrown. A thrown `Response` counts as a
 * result, not as an error.
 *
 * @param name The name of the span, such as `loader:country`.
 * @param layer The part of the application.
 * @param fn The function to run. It gets the span, or `undefined` outside a trace.
 * @param args More arguments for `fn`. Passing them saves a closure.
 * @returns The result of `fn`.
 *
 * @example
 * ```ts
 * import { observe } from "@quartet/kit/app";
 *
 * const total = observe("sum", "custom", (span) => {
 *   span?.setAttribute("count", 3);
 *   return 1 + 2 + 3;
 * });
 * console.assert(total === 6);
 * ```
 */
export function observe<T, A extends unknown[] = []>(
  name: string,
  layer: Layer,
  fn: (span: ObservedSpan | undefined, ...args: A) => T,
  ...args: A
): T {
  const parent = currentScope()?.span;
  return parent === undefined
    ? fn(undefined, ...args)
    : runSpan(parent.child(name, layer), fn, ...args);
}

/**
 * Runs `fn` with `span` as the current one, and ends the span after it. A result
 * with a `then` method becomes a promise: a lazy query runs when `then` is called,
 * so it is called once, inside the span.
 */
export function runSpan<S extends ObservedSpan, T, A extends unknown[] = []>(
  span: S,
  fn: (span: S, ...args: A) => T,
  ...args: A
): T {
  const scope = new RequestScope(undefined, span, currentScope());
  let result: T;
  try {
    result = runInScope(scope, fn, span, ...args);
  } catch (error) {
    fail(scope, span, error);
    throw error;
  }
  if (isThenable(result)) {
    const promise = result.then === Promise.prototype.then
      ? result
      : runInScope(scope, () => Promise.resolve(result));
    return promise.then(
      (value) => {
        end(scope, span);
        return value;
      },
      (error) => {
        fail(scope, span, error);
        throw error;
      },
    ) as T;
  }
  end(scope, span);
  return result;
}

function end(scope: RequestScope, span: ObservedSpan): void {
  span.end();
  scope.span = undefined;
}

function fail(scope: RequestScope, span: ObservedSpan, error: unknown): void {
  if (!isResponse(error)) span.error(error);
  end(scope, span);
}
