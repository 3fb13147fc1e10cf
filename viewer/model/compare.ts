/**
 * Compares two traces. Spans with the same name and layer under the same parent
 * are pairs, in order.
 *
 * @module
 */

import { sumOf } from "./numbers.ts";
import {
  isGroup,
  type RowOptions,
  type Unit,
  unitOf,
  unitsOf,
} from "./rows.ts";
import { LAYER_ORDER, type LayerTime } from "./summary.ts";
import { selfTimeOf, spanKey, type TraceTree } from "./tree.ts";

/** A row of the comparison. One side may be missing. */
export interface ComparedRow {
  /** The id of its group, or of its first side. */
  readonly id: string;
  /** The unit of the first trace. */
  readonly a: Unit | undefined;
  /** The unit of the second trace. */
  readonly b: Unit | undefined;
  /** The indentation of the row. */
  readonly depth: number;
  /** Whether a side is a group, so that its members can be shown. */
  readonly expandable: boolean;
  /** Whether its members are shown. */
  readonly expanded: boolean;
}

/** The two sides of a row. */
type Pair = readonly [a: Unit | undefined, b: Unit | undefined];

/**
 * Lists the rows of a comparison, depth first. Under the same parent, spans
 * that only the second trace has come last.
 */
export function compareTrees(
  a: TraceTree,
  b: TraceTree,
  { grouped, expandedGroups }: Pick<RowOptions, "grouped" | "expandedGroups">,
): ComparedRow[] {
  const rows: ComparedRow[] = [];
  const stack = [{ pair: comparableTops(a, b), depth: 0 }];
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
    const below = (unit: Unit | undefined) =>
      expandable
        ? unit?.members.map(unitOf) ?? []
        : unitsOf(unit?.node.children ?? [], grouped);
    for (const pair of pairUnits(below(a), below(b)).toReversed()) {
      stack.push({ pair, depth: depth + 1 });
    }
  }
  return rows;
}

/**
 * Returns the first spans of the comparison: the tops. If only one trace begins
 * in a browser, both begin with the server's root.
 */
function comparableTops(a: TraceTree, b: TraceTree): Pair {
  const rootOf = ({ byId, trace }: TraceTree) => byId.get(trace.rootSpanId);
  const differ = (rootOf(a)?.depth === 0) !== (rootOf(b)?.depth === 0);
  const [left, right] = [a, b].map((tree) =>
    differ ? rootOf(tree) : tree.nodes[0]
  );
  return [left && unitOf(left), right && unitOf(right)];
}

function pairUnits(left: readonly Unit[], right: readonly Unit[]): Pair[] {
  const keyOf = ({ node }: Unit) => spanKey(node.span);
  const waiting = Map.groupBy(right.toReversed(), keyOf);
  const pairOf = (unit: Unit): Pair => [unit, waiting.get(keyOf(unit))?.pop()];
  const pairs = left.map(pairOf);
  const paired = new Set(pairs.map(([, unit]) => unit));
  const others = right.filter((unit) => !paired.has(unit));
  return [...pairs, ...others.map((unit): Pair => [undefined, unit])];
}

/**
 * Returns the unit of the second trace whose self time is longer by most than
 * in the first. `undefined` if nothing is slower.
 */
export function slowestRow(rows: readonly ComparedRow[]): Unit | undefined {
  let most = 0;
  let slowest: Unit | undefined;
  for (const { a, b, expanded } of rows) {
    const delta = expanded ? 0 : selfTimeIn(b) - selfTimeIn(a);
    if (delta <= most) continue;
    most = delta;
    slowest = b;
  }
  return slowest;
}

function selfTimeIn(unit: Unit | undefined): number {
  return sumOf(unit?.members ?? [], selfTimeOf);
}

/** Returns the self times of each layer that at least one of two traces has. */
export function compareLayers(
  a: readonly LayerTime[],
  b: readonly LayerTime[],
): { layer: LayerTime[0]; a: number; b: number }[] {
  const left = new Map(a);
  const right = new Map(b);
  const layers = LAYER_ORDER.filter((name) =>
    left.has(name) || right.has(name)
  );
  return layers.map((layer) => (
    { layer, a: left.get(layer) ?? 0, b: right.get(layer) ?? 0 }
  ));
}
