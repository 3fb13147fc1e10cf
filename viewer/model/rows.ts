/**
 * The rows of the waterfall: the tree after collapsing, grouping and hiding
 * layers.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";
import {
  groupedUnits,
  isGroup,
  type Unit,
  unitOf,
  unitsOf,
  unitTime,
} from "./groups.ts";
import { mostOf } from "./numbers.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/** A row of the waterfall. */
export interface Row extends Unit {
  /** How far the row is indented. */
  readonly depth: number;
  /** Whether there are rows below to show or hide. */
  readonly expandable: boolean;
  /** Whether the rows below are shown. */
  readonly expanded: boolean;
}

/** The options that decide which rows there are. */
export interface RowOptions {
  /** Ids of spans whose children are hidden. */
  readonly collapsed: ReadonlySet<string>;
  /** Ids of groups whose members are shown. */
  readonly expandedGroups: ReadonlySet<string>;
  /** Layers whose spans are left out. Their children move up. */
  readonly hiddenLayers: ReadonlySet<Layer>;
  /** Whether repeated siblings become one row. */
  readonly grouped: boolean;
}

/** Lists the rows of a trace, top to bottom. */
export function listRows(tree: TraceTree, options: RowOptions): Row[] {
  const { collapsed, expandedGroups, hiddenLayers, grouped } = options;
  const rows: Row[] = [];
  const stack = tree.nodes.slice(0, 1).map(unitOf);
  const depths = [0];
  for (let unit = stack.pop(); unit !== undefined; unit = stack.pop()) {
    const { id, node, members } = unit;
    const depth = depths.pop()!;
    const hidden = hiddenLayers.has(node.span.layer);
    const expandable = isGroup(unit) || node.children.length > 0;
    const expanded = expandable &&
      (isGroup(unit) ? expandedGroups.has(id) : !collapsed.has(id));
    if (!hidden) rows.push({ id, node, members, depth, expandable, expanded });
    if (!expandable || !(expanded || hidden)) continue;
    const below = isGroup(unit)
      ? members.map(unitOf)
      : unitsOf(node.children, grouped);
    for (let i = below.length - 1; i >= 0; i--) {
      stack.push(below[i]!);
      depths.push(hidden ? depth : depth + 1);
    }
  }
  return rows;
}

/**
 * Returns the spans and groups to expand for a span to have a row: the spans
 * above it, and the groups that it or they are members of.
 */
export function pathTo(node: SpanNode): {
  spans: string[];
  groups: string[];
} {
  const spans: string[] = [];
  const groups: string[] = [];
  for (let at = node; at.parent !== null; at = at.parent) {
    const { span, children } = at.parent;
    spans.push(span.id);
    const member = at;
    const unit = groupedUnits(children)
      .find(({ members }) => members.includes(member));
    if (unit !== undefined && isGroup(unit)) groups.push(unit.id);
  }
  return { spans, groups };
}

/** Returns the group of a trace with the longest summed duration. */
export function longestGroup(tree: TraceTree): Unit | undefined {
  const groups = tree.nodes
    .flatMap(({ children }) => groupedUnits(children).filter(isGroup));
  const most = mostOf(groups, unitTime);
  return groups.find((group) => unitTime(group) === most);
}
