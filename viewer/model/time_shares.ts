/**
 * Divides the total of a trace among its spans. Each moment belongs to the
 * spans that ran and waited for no child then, in equal parts. So the shares of
 * all spans add up to the total, however many run at the same time.
 *
 * @module
 */

import { countBelow } from "../../core/collections/count_below.ts";
import type { Interval } from "../../trace/export/self_time.ts";
import { clamp } from "./numbers.ts";
import { selfOf, type SpanNode, type TraceTree } from "./tree.ts";

/**
 * Returns each span's share of the total, in milliseconds, by its index. Time
 * when nothing ran belongs to the top.
 */
export function timeShares({ nodes, start, end }: TraceTree): Float64Array {
  const work = nodes.map((node) => workOf(node, start, end));
  const moments = Float64Array.from([start, end, ...work.flat(2)]).sort();
  const running = new Int32Array(moments.length);
  for (const [from, to] of work.flat()) {
    running[countBelow(moments, from)]! += 1;
    running[countBelow(moments, to)]! -= 1;
  }
  // The share of a span that runs from the start until each moment.
  const sums = new Float64Array(moments.length);
  let idle = 0;
  for (let i = 1, count = 0; i < moments.length; i++) {
    count += running[i - 1]!;
    const time = moments[i]! - moments[i - 1]!;
    sums[i] = sums[i - 1]! + (count > 0 ? time / count : 0);
    if (count === 0) idle += time;
  }
  const shares = new Float64Array(nodes.length);
  work.forEach((intervals, i) => {
    for (const [from, to] of intervals) {
      shares[i]! += sums[countBelow(moments, to)]! -
        sums[countBelow(moments, from)]!;
    }
  });
  if (shares.length > 0) shares[0]! += idle;
  return shares;
}

/** Returns the intervals of a span's own work within the total. */
function workOf(node: SpanNode, start: number, end: number): Interval[] {
  if (node.detached) return [];
  return selfOf(node)
    .map(([from, to]) => [clamp(from, start, end), clamp(to, start, end)])
    .filter(([from, to]) => from! < to!) as [number, number][];
}
