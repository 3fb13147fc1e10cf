/**
 * The rows and spans of a time range.
 *
 * @module
 */

import { isOpenSpan } from "../../trace/export/semantics.ts";
import type { Row } from "./rows.ts";
import type { TimeRange } from "./time_range.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/**
 * Returns the rows with a part in a range, and the rows above them. A collapsed
 * row stands for all spans below it.
 */
export function rowsIn(rows: readonly Row[], range: TimeRange): Row[] {
  const kept: Row[] = [];
  // Backwards: the next row with a smaller depth is the parent.
  let below = 0;
  for (const row of rows.toReversed()) {
    const isPartial = row.expandable && !row.expanded;
    const isIn = row.members.some((node) =>
      overlaps(node, range) || isPartial && overlapsBelow(node, range)
    );
    if (!isIn && row.depth >= below) continue;
    kept.push(row);
    below = row.depth;
  }
  return kept.reverse();
}

/** Returns how many spans have a part in a range. */
export function countIn({ nodes }: TraceTree, range: TimeRange): number {
  let count = 0;
  for (const node of nodes) count += Number(overlaps(node, range));
  return count;
}

/** Whether a span has a part in a range. A running one has no end. */
export function overlaps({ span }: SpanNode, { start, end }: TimeRange) {
  return span.startTime <= end && (span.endTime >= start || isOpenSpan(span));
}

/** Whether a span below has a part in a range. */
function overlapsBelow(node: SpanNode, range: TimeRange): boolean {
  const stack = [node];
  for (let at = stack.pop(); at !== undefined; at = stack.pop()) {
    for (const child of at.children) {
      if (overlaps(child, range)) return true;
      stack.push(child);
    }
  }
  return false;
}
