/**
 * The rows of the waterfall: the tree after collapsing, grouping and hiding
 * layers.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";
import { groupedUnits, type Unit, unitOf } from "./groups.ts";
import { sumOf } from "./numbers.ts";
import { isFailed, type SpanNode, type TraceTree } from "./tree.ts";

export { type Unit, unitOf } from "./groups.ts";

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
    const { id, node, group } = unit;
    const depth = depths.pop()!;
    const hidden = hiddenLayers.has(node.span.layer);
    const expandable = group !== undefined || node.children.length > 0;
    const expanded = expandable &&
      (group === undefined ? !collapsed.has(id) : expandedGroups.has(id));
    if (!hidden) rows.push({ id, node, group, depth, expandable, expanded });
    if (!expandable || !(expanded || hidden)) continue;
    const below = group?.members.map(unitOf) ??
      unitsOf(node.children, grouped);
    for (let i = below.length - 1; i >= 0; i--) {
      stack.push(below[i]!);
      depths.push(hidden ? depth : depth + 1);
    }
  }
  return rows;
}

/** Returns the children of a span, repeated ones as groups if `grouped`. */
export function unitsOf(
  children: readonly SpanNode[],
  grouped: boolean,
): readonly Unit[] {
  return grouped ? groupedUnits(children) : children.map(unitOf);
}

/** Returns the spans of a unit. */
export function membersOf({ node, group }: Unit): readonly SpanNode[] {
  return group?.members ?? [node];
}

/** Returns the summed duration of the spans of a unit, in milliseconds. */
export function unitTime(unit: Unit): number {
  return sumOf(membersOf(unit), ({ span }) => span.duration);
}

/** Whether a span of a unit failed. */
export function isFailedUnit(unit: Unit): boolean {
  return membersOf(unit).some(({ span }) => isFailed(span));
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
      .find(({ group }) => group?.members.includes(member));
    if (unit !== undefined) groups.push(unit.id);
  }
  return { spans, groups };
}

/** Returns the group of a trace with the longest summed duration. */
export function longestGroup(tree: TraceTree): Unit | undefined {
  let longest: Unit | undefined;
  let most = -1;
  for (const { children } of tree.nodes) {
    for (const unit of groupedUnits(children)) {
      const time = unitTime(unit);
      if (unit.group === undefined || time <= most) continue;
      longest = unit;
      most = time;
    }
  }
  return longest;
}
