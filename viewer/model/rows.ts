/**
 * The rows of the waterfall: what is left of the tree after collapsing,
 * grouping and hiding layers.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";
import { groupSiblings, type SpanGroup } from "./groups.ts";
import { isFailed, type SpanNode, type TraceTree } from "./tree.ts";

/** What a row stands for: a span, or repeated siblings. */
export interface Unit {
  /** The span's id, or the group's. */
  readonly id: string;
  /** The span; of a group, the first member. */
  readonly node: SpanNode;
  /** The group, if it is one. */
  readonly group: SpanGroup | undefined;
}

/** A row of the waterfall. */
export interface Row extends Unit {
  /** How far the row is indented. */
  readonly depth: number;
  /** Whether something can be shown or hidden below. */
  readonly expandable: boolean;
  /** Whether what is below is shown. */
  readonly expanded: boolean;
}

/** What decides which rows there are. */
export interface RowOptions {
  /** Ids of spans whose children are hidden. */
  readonly collapsed: ReadonlySet<string>;
  /** Ids of groups whose members are shown. */
  readonly expandedGroups: ReadonlySet<string>;
  /** Layers whose spans are left out; what is below moves up. */
  readonly hiddenLayers: ReadonlySet<Layer>;
  /** Whether repeated siblings become one row. */
  readonly grouped: boolean;
}

/** Lists the rows of a trace, top to bottom. */
export function listRows(tree: TraceTree, options: RowOptions): Row[] {
  const { collapsed, expandedGroups, hiddenLayers, grouped } = options;
  const rows: Row[] = [];
  const stack = tree.nodes.slice(0, 1)
    .map((node) => ({ unit: unitOf(node), depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { unit, depth } = next;
    const { id, node, group } = unit;
    const hidden = hiddenLayers.has(node.span.layer);
    const expandable = group !== undefined || node.children.length > 0;
    const expanded = hidden ||
      (group === undefined ? !collapsed.has(id) : expandedGroups.has(id));
    if (!hidden) {
      const row = { id, node, group, depth, expandable };
      rows.push({ ...row, expanded: expandable && expanded });
    }
    if (!expanded) continue;
    const below = group?.members.map(unitOf) ??
      unitsOf(node.children, grouped);
    for (let i = below.length - 1; i >= 0; i--) {
      stack.push({ unit: below[i]!, depth: hidden ? depth : depth + 1 });
    }
  }
  return rows;
}

/** A span by itself. */
export function unitOf(node: SpanNode): Unit {
  return { id: node.span.id, node, group: undefined };
}

/** The children of a span, repeated ones as groups if that is wanted. */
export function unitsOf(
  children: readonly SpanNode[],
  grouped: boolean,
): Unit[] {
  const groups = grouped ? groupSiblings(children) : [];
  if (groups.length === 0) return children.map(unitOf);
  const groupOf = new Map<SpanNode, SpanGroup>();
  for (const group of groups) {
    for (const member of group.members) groupOf.set(member, group);
  }
  return children.flatMap((node) => {
    const group = groupOf.get(node);
    if (group === undefined) return unitOf(node);
    return group.members[0] === node ? { id: group.id, node, group } : [];
  });
}

/** The spans that a row stands for. */
export function membersOf({ node, group }: Unit): readonly SpanNode[] {
  return group?.members ?? [node];
}

/** How long the spans of a row took together, in milliseconds. */
export function unitTime(unit: Unit): number {
  return membersOf(unit).reduce((sum, { span }) => sum + span.duration, 0);
}

/** Whether a span of a row failed. */
export function isFailedUnit(unit: Unit): boolean {
  return membersOf(unit).some(({ span }) => isFailed(span));
}

/**
 * What has to be opened for a span to have a row: the collapsed spans above it
 * and the groups that it or they are members of.
 */
export function pathTo(node: SpanNode): {
  spans: string[];
  groups: string[];
} {
  const spans: string[] = [];
  const groups: string[] = [];
  for (let at: SpanNode | null = node; at !== null; at = at.parent) {
    const parent: SpanNode | null = at.parent;
    if (parent === null) break;
    spans.push(parent.span.id);
    const member = at;
    const group = groupSiblings(parent.children)
      .find(({ members }) => members.includes(member));
    if (group !== undefined) groups.push(group.id);
  }
  return { spans, groups };
}

/** All groups of a trace as rows, the longest summed time first. */
export function listGroups(tree: TraceTree): Unit[] {
  return tree.nodes
    .flatMap(({ children }) =>
      groupSiblings(children)
        .map((group) => ({ id: group.id, node: group.members[0]!, group }))
    )
    .sort((a, b) => unitTime(b) - unitTime(a));
}
