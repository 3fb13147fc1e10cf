/**
 * Two traces laid side by side: spans of the same name and layer under the
 * same parent belong together, the first to the first, the second to the
 * second.
 *
 * @module
 */

import { LAYERS, type LayerTime } from "./layers.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/** A row of the comparison. One of both sides may be missing. */
export interface ComparedRow {
  /** The span of the first trace. */
  readonly a: SpanNode | undefined;
  /** The span of the second trace. */
  readonly b: SpanNode | undefined;
  /** How far the row is indented. */
  readonly depth: number;
}

/**
 * Lists the rows of a comparison, depth first. Spans that only the second
 * trace has stand after the spans of the first under the same parent.
 */
export function compareTrees(a: TraceTree, b: TraceTree): ComparedRow[] {
  const rows: ComparedRow[] = [];
  const [top, otherTop] = comparableTops(a, b);
  const stack: ComparedRow[] = [{ a: top, b: otherTop, depth: 0 }];
  for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
    if (row.a === undefined && row.b === undefined) continue;
    rows.push(row);
    const pairs = pairChildren(row.a?.children ?? [], row.b?.children ?? []);
    for (const [left, right] of pairs.toReversed()) {
      stack.push({ a: left, b: right, depth: row.depth + 1 });
    }
  }
  return rows;
}

/**
 * Where two traces are compared from: their tops, unless only one of them was
 * begun by a browser. Then both are compared from the server's root span on.
 */
export function comparableTops(
  a: TraceTree,
  b: TraceTree,
): readonly [SpanNode | undefined, SpanNode | undefined] {
  const roots = [a, b].map(({ byId, trace }) => byId.get(trace.rootSpanId));
  const [left, right] = roots;
  if ((left?.depth === 0) !== (right?.depth === 0)) return [left, right];
  return [a.nodes[0], b.nodes[0]];
}

function pairChildren(
  left: readonly SpanNode[],
  right: readonly SpanNode[],
): [SpanNode | undefined, SpanNode | undefined][] {
  const waiting = new Map<string, SpanNode[]>();
  for (const node of right) {
    const key = keyOf(node);
    const queue = waiting.get(key);
    if (queue === undefined) waiting.set(key, [node]);
    else queue.push(node);
  }
  for (const queue of waiting.values()) queue.reverse();
  const pairs: [SpanNode | undefined, SpanNode | undefined][] = left.map(
    (node) => [node, waiting.get(keyOf(node))?.pop()],
  );
  const paired = new Set(pairs.map(([, node]) => node));
  for (const node of right) {
    if (!paired.has(node)) pairs.push([undefined, node]);
  }
  return pairs;
}

function keyOf({ span }: SpanNode): string {
  return `${span.layer}\n${span.name}`;
}

/** Self time of each layer that at least one of two traces has. */
export function compareLayers(
  a: readonly LayerTime[],
  b: readonly LayerTime[],
): { layer: LayerTime[0]; a: number; b: number }[] {
  const left = new Map(a);
  const right = new Map(b);
  return LAYERS
    .filter((layer) => left.has(layer) || right.has(layer))
    .map((layer) => ({
      layer,
      a: left.get(layer) ?? 0,
      b: right.get(layer) ?? 0,
    }));
}
