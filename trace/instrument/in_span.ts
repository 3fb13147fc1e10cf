import { runSpan } from "../../core/observe.ts";
import { getActiveSpan } from "../record/context.ts";
import { noopSpan } from "../noop_tracer.ts";
import type { Attributes, Layer, Span } from "../types.ts";

/**
 * Runs `fn` in a child of the active span. Where no span is active, `fn` runs
 * all the same and gets a span that records nothing.
 */
export function inSpan<T>(
  name: string,
  layer: Layer,
  fn: (span: Span) => T,
  attributes?: Attributes,
): T {
  const parent = getActiveSpan();
  if (parent === undefined) return fn(noopSpan);
  return runSpan(parent.child(name, layer, attributes), fn);
}
