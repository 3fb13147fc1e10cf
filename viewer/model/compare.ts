/**
 * Two traces laid side by side: spans of the same name and layer under the
 * same parent belong together, the first to the first, the second to the
 * second.
 *
 * @module
 */

import { LAYER_ORDER, type LayerTime } from "./layers.ts";
import {
  isGroup,
  type RowOptions,
  type Unit,
  unitOf,
  unitsOf,
} from "./rows.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/** A row of the comparison. One of both sides may be missing. */
export interface ComparedRow {
  /** The id of its group, or else of its first side. */
  readonly id: string;
  /** The unit of the first trace. */
  readonly a: Unit | undefined;
  /** The unit of the second trace. */
  readonly b: Unit | undefined;
  /** How far the row is indented. */
  readonly depth: number;
  /** Whether a side is a group, so that its members can be shown. */
  readonly expandable: boolean;
  /** Whether they are. */
  readonly expanded: boolean;
}

/** The two sides of a row. */
type Pair = readonly [a: Unit | undefined, b: Unit | undefined];

/**
 * Lists the rows of a comparison, depth first. Spans that only the second
 * trace has stand after the spans of the first under the same parent.
 */
export function compareTrees(
  a: TraceTree,
  b: TraceTree,
  { grouped, expandedGroups }: Pick<RowOptions, "grouped" | "expandedGroups">,
): ComparedRow[] {
  const rows: ComparedRow[] = [];
  const [top, otherTop] = comparableTops(a, b)
    .map((node) => node && unitOf(node));
  const stack = [{ pair: [top, otherTop] as Pair, depth: 0 }];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { pair: [a, b], depth } = next;
    const first = a ?? b;
    if (first === undefined) continue;
    const group = [a, b].find((unit) => unit && isGroup(unit));
    const { id } = group ?? first;
    const expandable = group !== undefined;
    const expanded = expandedGroups.has(id);
    rows.push({ id, a, b, depth, expandable, expanded });
    if (expandable && !expanded) continue;
    const [left, right] = [a, b].map((unit) =>
      unit === undefined
        ? []
        : expandable
        ? unit.members.map(unitOf)
        : unitsOf(unit.node.children, grouped)
    );
    for (const pair of pairUnits(left!, right!).toReversed()) {
      stack.push({ pair, depth: depth + 1 });
    }
  }
  return rows;
}

/**
 * Returns the spans that the comparison begins with: the tops, unless only one
 * of the traces begins in a browser. Then both begin with the server's root.
 */
function comparableTops(
  a: TraceTree,
  b: TraceTree,
): readonly [SpanNode | undefined, SpanNode | undefined] {
  const roots = [a, b].map(({ byId, trace }) => byId.get(trace.rootSpanId));
  const [left, right] = roots;
  if ((left?.depth === 0) !== (right?.depth === 0)) return [left, right];
  return [a.nodes[0], b.nodes[0]];
}

function pairUnits(left: readonly Unit[], right: readonly Unit[]): Pair[] {
  const waiting = Map.groupBy(right.toReversed(), keyOf);
  const pairs: Pair[] = left.map((
    unit,
  ) => [unit, waiting.get(keyOf(unit))?.pop()]);
  const paired = new Set(pairs.map(([, unit]) => unit));
  for (const unit of right) {
    if (!paired.has(unit)) pairs.push([undefined, unit]);
  }
  return pairs;
}

function keyOf({ node: { span } }: Unit): string {
  return `${span.layer}\n${span.name}`;
}

/** Returns the self times of each layer that at least one of two traces has. */
export function compareLayers(
  a: readonly LayerTime[],
  b: readonly LayerTime[],
): { layer: LayerTime[0]; a: number; b: number }[] {
  const left = new Map(a);
  const right = new Map(b);
  return LAYER_ORDER
    .filter((layer) => left.has(layer) || right.has(layer))
    .map((layer) => ({
      layer,
      a: left.get(layer) ?? 0,
      b: right.get(layer) ?? 0,
    }));
}
