/**
 * The failed spans of a trace, causes first.
 *
 * @module
 */

import { exceptionOf } from "../../trace/export/attributes.ts";
import { isFailed, type SpanNode, type TraceTree } from "./tree.ts";

/**
 * Returns the indices of the failed spans, in order of time. Spans that threw
 * come first. A span that only passed the error on comes after them.
 */
export function failedSpans({ nodes }: TraceTree): number[] {
  const failed = nodes.filter(({ span }) => isFailed(span));
  // The others failed because of one below.
  const causes = new Set(failed.filter((node) => node.errorsBelow === 0));
  // A failure without an exception is a cause where nothing below it threw.
  const throwers = [...causes].filter(({ span }) => exceptionOf(span));
  const first = throwers.length > 0 ? new Set(throwers) : causes;
  return failed
    .toSorted((a, b) =>
      Number(first.has(b)) - Number(first.has(a)) ||
      Number(causes.has(b)) - Number(causes.has(a)) ||
      momentOf(a) - momentOf(b) || a.index - b.index
    )
    .map(({ index }) => index);
}

/** Returns when a span threw, or ended. */
function momentOf({ span }: SpanNode): number {
  return exceptionOf(span)?.time ?? span.endTime;
}
