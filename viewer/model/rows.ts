/**
 * The rows of the waterfall: what is left of the tree after collapsing,
 * grouping and hiding layers.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";
import { groupSiblings, type SpanGroup } from "./groups.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/** A row of the waterfall: a span, or a group of spans. */
export interface Row {
  /** The span's id, or the group's. */
  readonly id: string;
  /** The span; of a group, the first member. */
  readonly node: SpanNode;
  /** The group, if this row stands for one. */
  readonly group: SpanGroup | undefined;
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

type Task =
  | { readonly kind: "span"; readonly node: SpanNode; readonly depth: number }
  | {
    readonly kind: "group";
    readonly group: SpanGroup;
    readonly depth: number;
  };

/** Lists the rows of a trace, top to bottom. */
export function listRows(tree: TraceTree, options: RowOptions): Row[] {
  const rows: Row[] = [];
  const top = tree.nodes[0];
  const stack: Task[] = top === undefined
    ? []
    : [{ kind: "span", node: top, depth: 0 }];
  for (let task = stack.pop(); task !== undefined; task = stack.pop()) {
    const { depth } = task;
    if (task.kind === "group") {
      const { group } = task;
      const expanded = options.expandedGroups.has(group.id);
      const node = group.members[0]!;
      rows.push({
        id: group.id,
        node,
        group,
        depth,
        expandable: true,
        expanded,
      });
      if (!expanded) continue;
      for (const member of group.members.toReversed()) {
        stack.push({ kind: "span", node: member, depth: depth + 1 });
      }
      continue;
    }
    const { node } = task;
    const hidden = options.hiddenLayers.has(node.span.layer);
    const expanded = hidden || !options.collapsed.has(node.span.id);
    if (!hidden) {
      const expandable = node.children.length > 0;
      rows.push({
        id: node.span.id,
        node,
        group: undefined,
        depth,
        expandable,
        expanded: expandable && expanded,
      });
    }
    if (expanded) {
      pushChildren(stack, node, hidden ? depth : depth + 1, options);
    }
  }
  return rows;
}

function pushChildren(
  stack: Task[],
  { children }: SpanNode,
  depth: number,
  { grouped, hiddenLayers }: RowOptions,
): void {
  const groups = grouped ? groupSiblings(children) : [];
  const groupOf = new Map<SpanNode, SpanGroup>();
  for (const group of groups) {
    for (const member of group.members) groupOf.set(member, group);
  }
  for (let i = children.length - 1; i >= 0; i--) {
    const node = children[i]!;
    const group = groupOf.get(node);
    if (group === undefined || hiddenLayers.has(node.span.layer)) {
      stack.push({ kind: "span", node, depth });
    } else if (group.members[0] === node) {
      stack.push({ kind: "group", group, depth });
    }
  }
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

/** All groups of a trace, the longest summed time first. */
export function listGroups(tree: TraceTree): SpanGroup[] {
  return tree.nodes
    .flatMap((node) => groupSiblings(node.children))
    .sort((a, b) => groupTime(b) - groupTime(a));
}

/** The summed duration of a group's members in milliseconds. */
export function groupTime(group: SpanGroup): number {
  return group.members.reduce((sum, { span }) => sum + span.duration, 0);
}
