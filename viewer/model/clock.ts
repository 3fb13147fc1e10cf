/**
 * The error of the clocks of a trace's processes.
 *
 * @module
 */

import {
  CLOCK_ERROR,
  CLOCK_SHIFT,
  isClientSpan,
  isDetached,
} from "../../trace/export/semantics.ts";
import type { SpanData } from "../../trace/types.ts";
import { numberOf, processOf } from "./process.ts";
import type { TraceTree } from "./tree.ts";

/** An error matters if it is a larger share of the total. */
const LEAST_SHARE = 0.01;

/** The state of a trace's clocks. */
export type Clocks = ReturnType<typeof clocksOf>;

/** Returns what a reader must know about a trace's clocks. */
export function clocksOf({ nodes, clients, start, end }: TraceTree) {
  let error = 0;
  let smallestGap = Infinity;
  for (const { span, children } of clients) {
    error = Math.max(error, numberOf(span, CLOCK_ERROR) ?? 0);
    for (const child of children) {
      smallestGap = Math.min(smallestGap, gapOf(span, child.span));
    }
  }
  const shifts = nodes.flatMap((node) => {
    const shift = numberOf(node.span, CLOCK_SHIFT) ?? 0;
    return shift === 0 ? [] : [{ node, process: processOf(node.span), shift }];
  });
  const matters = error > (end - start) * LEAST_SHARE || error > smallestGap;
  return {
    /** The remaining error of the browser's clock, if it matters. */
    error: error > 0 && matters ? error : undefined,
    /** The first spans that were moved into their callers, and how far. */
    shifts,
  };
}

/**
 * Returns the time between a browser's request and its start on the server. It
 * has no meaning if it is shorter than the error.
 */
function gapOf(request: SpanData, child: SpanData): number {
  return isClientSpan(child) || isDetached(child)
    ? Infinity
    : Math.max(0, child.startTime - request.startTime);
}
