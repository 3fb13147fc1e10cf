/**
 * The rows of the waterfall: the tree with collapsed spans, hidden layers, and
 * one row for repeated siblings, such as queries in a loop.
 *
 * @module
 */

import { statementOf } from "../../trace/export/attributes.ts";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import type { Layer } from "../../trace/types.ts";
import { sumOf } from "./numbers.ts";
import type { TimeRange } from "./time_range.ts";
import { isFailed, type SpanNode, type TraceTree } from "./tree.ts";

/** A row of the waterfall. */
export interface Row extends Unit {
  /** The indentation of the row. */
  readonly depth: number;
  /** Whether there are rows below to show or hide. */
  readonly expandable: boolean;
  /** Whether the rows below are shown. */
  readonly expanded: boolean;
}

/** Options for the rows. */
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
export function pathTo(node: SpanNode) {
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

/** Minimum number of similar siblings for one row. */
const MIN_GROUP_SIZE = 3;

/**
 * Maximum number of other siblings between two similar ones. Enough for a loop
 * of a few different queries, but not for the start and end of a request.
 */
const MAX_DISTANCE = 6;

/** A span, or repeated siblings. */
export interface Unit {
  /** The id of the span, or of the group. Unique in its trace. */
  readonly id: string;
  /** The span, or the first member of a group. */
  readonly node: SpanNode;
  /** The span alone, or at least {@linkcode MIN_GROUP_SIZE} by start time. */
  readonly members: readonly SpanNode[];
}

/** Returns a span as a unit. */
export function unitOf(node: SpanNode): Unit {
  return { id: node.span.id, node, members: [node] };
}

/** Whether a unit is a group. */
export function isGroup({ members }: Unit): boolean {
  return members.length > 1;
}

/** Returns the summed duration of the spans of a unit, in milliseconds. */
export function unitTime({ members }: Unit): number {
  return sumOf(members, ({ span }) => span.duration);
}

/** Whether a span of a unit failed. */
export function isFailedUnit({ members }: Unit): boolean {
  return members.some(({ span }) => isFailed(span));
}

/** Returns the children of a span, repeated ones as groups if `grouped`. */
export function unitsOf(
  children: readonly SpanNode[],
  grouped: boolean,
): readonly Unit[] {
  return grouped ? groupedUnits(children) : children.map(unitOf);
}

/**
 * Returns the children of a span, repeated ones as groups.
 *
 * Siblings are similar if name, layer and statement are equal. Statements may
 * differ in their literals. Long-lived work isn't grouped: each has its own end.
 */
export function groupedUnits(children: readonly SpanNode[]): readonly Unit[] {
  let units = cache.get(children);
  if (!units) cache.set(children, units = findUnits(children));
  return units;
}

/** Rows, findings and searches need the groups of the same spans. */
const cache = new WeakMap<readonly SpanNode[], Unit[]>();

function findUnits(children: readonly SpanNode[]): Unit[] {
  // For each child, the members of its group.
  const runs: SpanNode[][] = [];
  const shapes = children.map(shapeOf);
  const isAlike = (a: number, b: number) => {
    const one = children[a]!.span;
    const other = children[b]!.span;
    return one.name === other.name && one.layer === other.layer &&
      shapes[a] !== undefined && shapes[a] === shapes[b];
  };
  for (let at = 0; at < children.length; at++) {
    const node = children[at]!;
    let before = at - 1;
    while (
      before >= 0 && at - before <= MAX_DISTANCE && !isAlike(at, before)
    ) before--;
    const run = at - before <= MAX_DISTANCE ? runs[before] ?? [] : [];
    run.push(node);
    runs.push(run);
  }
  const units: Unit[] = [];
  runs.forEach((members, at) => {
    const node = children[at]!;
    if (members.length < MIN_GROUP_SIZE) units.push(unitOf(node));
    else if (members[0] === node) {
      units.push({ id: `group:${node.span.id}`, node, members });
    }
  });
  return units;
}

/** Returns the statement of a span. `undefined` for sockets and subscriptions. */
function shapeOf({ span, detached, children }: SpanNode): string | undefined {
  return detached || children.some((child) => child.detached)
    ? undefined
    : statementShape(statementOf(span) ?? "");
}

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
