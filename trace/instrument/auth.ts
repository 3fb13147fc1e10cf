import { isThenable } from "../../core/observe.ts";
import type { Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces the check of a right, as a span `auth:<check>`. The result is kept as
 * `app.auth.allowed` if it is a boolean.
 *
 * @param check Names the check, such as `session` or `role:admin`.
 * @param run Does the check.
 * @returns What `run` returns; a promise if that has a `then` method.
 *
 * @example
 * ```ts
 * import { traceAuthCheck } from "@quartet/kit/trace";
 *
 * const allowed = await traceAuthCheck("role:admin", () => Promise.resolve(true));
 * console.assert(allowed);
 * ```
 */
export function traceAuthCheck<T>(check: string, run: (span: Span) => T): T {
  return inSpan(`auth:${check}`, "auth", (span) => {
    const result: unknown = run(span);
    return isThenable(result)
      ? Promise.resolve(result).then((value) => noteResult(span, value))
      : noteResult(span, result);
  }) as T;
}

function noteResult<R>(span: Span, result: R): R {
  if (typeof result === "boolean") {
    span.setAttribute("app.auth.allowed", result);
  }
  return result;
}
