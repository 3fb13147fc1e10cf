/**
 * Spans, as the host and the modules open them without knowing the tracer.
 *
 * @module
 */

import { isResponse } from "./http/is_response.ts";
import { isThenable } from "./maybe_async.ts";
import type { Layer, ObservedSpan } from "./observed_span.ts";
import { currentScope, RequestScope, runInScope } from "./request_scope.ts";

/**
 * Runs `fn` inside a child of the span that is open here, and ends that child
 * when `fn` has returned or its promise has settled. Where nothing is traced
 * it only runs `fn`, at the cost of one look-up.
 *
 * What `fn` throws is recorded on the span and thrown on; a thrown `Response`
 * counts as a result, not as a failure.
 *
 * @param name What is being done, such as `loader:country`.
 * @param layer The part of the application that does it.
 * @param fn What to run. It gets the span, or `undefined` if there is none.
 * @returns What `fn` returns; a promise if that is a promise.
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
export function observe<T>(
  name: string,
  layer: Layer,
  fn: (span: ObservedSpan | undefined) => T,
): T {
  const scope = currentScope();
  const parent = scope?.span;
  if (parent === undefined) return fn(undefined);
  return runSpan(parent.child(name, layer), fn);
}

/**
 * Runs `fn` with `span` as the open one and ends the span when `fn` is done.
 * A result with a `then` method is awaited and becomes a promise, because a
 * lazy query only starts once somebody calls it: here, once, inside the span.
 */
export function runSpan<S extends ObservedSpan, T>(
  span: S,
  fn: (span: S) => T,
): T {
  const scope = new RequestScope(undefined, span, currentScope());
  let result: T;
  try {
    result = runInScope(scope, fn, span);
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
