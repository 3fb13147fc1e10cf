/**
 * The critical path: the chain of spans that decided when the trace ended.
 *
 * It is followed back from the end of the top span. A parent waited for the
 * child that finished last. The time between such children belongs to the
 * parent. Only faster spans on this path make the trace shorter.
 *
 * @module
 */

import type { Interval } from "../../trace/export/self_time.ts";
import { waitsFor } from "../../trace/export/semantics.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/**
 * Returns the intervals of a span on the critical path, in order. `undefined`
 * if it wasn't on it, and empty if it only waited for its children.
 */
export type CriticalPath = (node: SpanNode) => readonly Interval[] | undefined;

/**
 * Finds the critical path of a trace lazily. The part below a span is computed
 * when a span there is shown.
 */
export function criticalPath(tree: TraceTree): CriticalPath {
  const onPath = new Set(tree.nodes.slice(0, 1));
  const known = new Map<SpanNode, readonly Interval[]>();
  return (node) => {
    const unknown: SpanNode[] = [];
    let at: SpanNode | null = node;
    for (; at !== null && !known.has(at); at = at.parent) unknown.push(at);
    for (const above of unknown.reverse()) {
      if (!onPath.has(above)) return undefined;
      known.set(above, walkBack(above, onPath));
    }
    return known.get(node);
  };
}

/**
 * Returns the intervals of a span's own work, and adds the spans it waited for
 * to the path.
 */
function walkBack(node: SpanNode, onPath: Set<SpanNode>): Interval[] {
  const { span, children } = node;
  const segments: Interval[] = [];
  let cursor = span.endTime;
  const latestFirst = children
    .toSorted((a, b) => b.span.endTime - a.span.endTime);
  for (const child of latestFirst) {
    const { startTime, endTime } = child.span;
    // A child that ended after its parent continued didn't delay it.
    if (endTime > cursor || endTime <= startTime) continue;
    if (startTime < span.startTime) continue;
    if (!waitsFor(span, child.span)) continue;
    if (cursor > endTime) segments.push([endTime, cursor]);
    onPath.add(child);
    cursor = startTime;
  }
  if (cursor > span.startTime) segments.push([span.startTime, cursor]);
  return segments.reverse();
}
