/**
 * The critical path: the chain of spans that decided when the trace ended.
 *
 * Walking back from the end of the top span, at each moment the child that
 * finished last is what its parent was waiting for. What lies between such
 * children is the parent's own doing. Making anything off this path faster
 * doesn't make the trace shorter.
 *
 * @module
 */

import { waitsFor } from "../../trace/export/semantics.ts";
import type { Interval } from "./intervals.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/** When each span was on the critical path, in order. */
export type CriticalPath = ReadonlyMap<SpanNode, readonly Interval[]>;

/** Finds the critical path of a trace. Its intervals don't overlap. */
export function criticalPath(tree: TraceTree): CriticalPath {
  const path = new Map<SpanNode, Interval[]>();
  const top = tree.nodes[0];
  if (top === undefined) return path;

  const stack: [SpanNode, number][] = [[top, top.span.endTime]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [node, end] = next;
    const segments: Interval[] = [];
    let cursor = end;
    for (const child of byLatestEnd(node.children)) {
      const { startTime, endTime } = child.span;
      // A child that outlives the moment its parent went on held nothing up.
      if (endTime > cursor || endTime <= startTime) continue;
      if (startTime < node.span.startTime) continue;
      if (!waitsFor(node.span, child.span)) continue;
      if (cursor > endTime) segments.push([endTime, cursor]);
      stack.push([child, endTime]);
      cursor = startTime;
    }
    if (cursor > node.span.startTime) {
      segments.push([node.span.startTime, cursor]);
    }
    path.set(node, segments.reverse());
  }
  return path;
}

function byLatestEnd(nodes: readonly SpanNode[]): SpanNode[] {
  return [...nodes].sort((a, b) => b.span.endTime - a.span.endTime);
}
