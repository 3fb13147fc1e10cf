import type { Layer, Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces work of your own, as a span below the active one. It needs no tracer:
 * where no request is traced, it only runs `fn`. `tracer.withSpan` does the
 * same and begins a trace of its own there.
 *
 * @param name What is being done.
 * @param layer The part of the application that does it.
 * @param fn Does it. It gets the span.
 * @returns What `fn` returns; a promise if that has a `then` method.
 *
 * @example
 * ```ts
 * import { withSpan } from "@quartet/kit/trace";
 *
 * const sorted = withSpan("sort", "custom", (span) => {
 *   span.setAttribute("items", 3);
 *   return [3, 1, 2].sort();
 * });
 * console.assert(sorted[0] === 1);
 * ```
 */
export function withSpan<T>(
  name: string,
  layer: Layer,
  fn: (span: Span) => T,
): T {
  return inSpan(name, layer, fn);
}
