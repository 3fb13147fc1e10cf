/**
 * A trace as a tree: every span once, children below their parents and ordered
 * by start time.
 *
 * Nothing here is recursive, because an imported trace may be one deep chain.
 *
 * @module
 */

import {
  isClientSpan,
  isDetached,
  isOpenSpan,
} from "../../trace/export/semantics.ts";
import {
  type Interval,
  selfSegments,
  selfTime,
} from "../../trace/export/self_time.ts";
import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import { type TimeRange, wholeRange } from "./time_range.ts";

/** A span in the tree. */
export interface SpanNode {
  /** The record. */
  readonly span: SpanData;
  /** The index in depth-first order, from 0. */
  index: number;
  /** The number of spans above. */
  depth: number;
  /** The span above, or `null` for the top. */
  parent: SpanNode | null;
  /** The spans directly below, by start time. */
  children: SpanNode[];
  /** The number of failed spans below. */
  errorsBelow: number;
  /** Whether it or a span above is long-lived work, outside of the total. */
  detached: boolean;
}

/** A trace with its spans in depth-first order. */
export interface TraceTree {
  /** The record. */
  readonly trace: SerializedTrace;
  /** All spans, depth first by start time. */
  readonly nodes: readonly SpanNode[];
  /** The spans of browsers, in the same order. */
  readonly clients: readonly SpanNode[];
  /** Spans by id. */
  readonly byId: ReadonlyMap<string, SpanNode>;
  /** The start of the trace's total. */
  readonly start: number;
  /** The end of the trace's total. */
  readonly end: number;
  /** The time of all spans, also of those outside of the total. */
  readonly extent: TimeRange;
}

/** Returns the intervals when a span ran and waited for no child. */
export function selfOf({ span, children }: SpanNode): Interval[] {
  return selfSegments(span, children.map(spanOf));
}

/** Returns the self time of a span, in milliseconds. */
export function selfTimeOf({ span, children }: SpanNode): number {
  return selfTime(span, children.map(spanOf));
}

function spanOf({ span }: SpanNode): SpanData {
  return span;
}

/** Returns the layer and name of a span as one text. */
export function spanKey(
  { layer, name }: Pick<SpanData, "layer" | "name">,
): string {
  return `${layer}\n${name}`;
}

/** Whether a span counts as failed. Running ones don't. */
export function isFailed(span: SpanData): boolean {
  return span.status !== "ok" && !isOpenSpan(span);
}

/**
 * Builds the tree of a trace.
 *
 * `parentId` names the parent of a span. A span with an unknown parent becomes
 * a child of the trace's root. The top is the root itself, or the browser span
 * above it. Spans in a cycle of parents are treated as if their parent were
 * unknown. The trace's own start and duration are its total.
 */
export function buildTree(trace: SerializedTrace): TraceTree {
  const all = trace.spans.map(createNode);
  // Backwards: the first span with an id stays.
  const byId = new Map(all.toReversed().map((node) => [node.span.id, node]));
  const top = linkParents(all, byId, trace.rootSpanId);
  const nodes = top === undefined ? [] : orderDepthFirst(top);

  const clients: SpanNode[] = [];
  for (const node of nodes) {
    node.detached = node.parent?.detached || isDetached(node.span);
    if (isClientSpan(node.span)) clients.push(node);
  }
  let { startTime: from, endTime: to } = top?.span ?? trace;
  // Backwards: children before their parents.
  for (const { span, parent, errorsBelow } of nodes.toReversed()) {
    from = Math.min(from, span.startTime);
    to = Math.max(to, span.endTime);
    if (parent) parent.errorsBelow += errorsBelow + Number(isFailed(span));
  }
  const { startTime: start, duration } = trace;
  const total = start + duration;
  // Without a total, as while everything runs, all spans are shown. Sums of epoch
  // milliseconds are rounded, so that a span may seem to end later.
  const end = duration > 0 && Math.abs(to - total) > ROUNDING
    ? total
    : Math.max(start, to);
  const extent = wholeRange(Math.min(from, start), Math.max(to, end));
  return { trace, nodes, clients, byId, start, end, extent };
}

/** More than the difference of two adjacent times, in milliseconds. */
const ROUNDING = 0.001;

/** The depth of a node that isn't settled yet. */
const UNKNOWN = -1;

function createNode(span: SpanData): SpanNode {
  return {
    span,
    index: 0,
    depth: UNKNOWN,
    parent: null,
    children: [],
    errorsBelow: 0,
    detached: false,
  };
}

/** Sets `parent` and `children` of all nodes. Returns the top one. */
function linkParents(
  all: readonly SpanNode[],
  byId: ReadonlyMap<string, SpanNode>,
  rootSpanId: string,
): SpanNode | undefined {
  const root = byId.get(rootSpanId) ?? all[0];
  if (root === undefined) return undefined;
  for (const node of all) {
    const { parentId } = node.span;
    const parent = parentId === null ? undefined : byId.get(parentId);
    if (parent !== node) node.parent = parent ?? null;
  }
  let top = root;
  // Bounded, because there may be a cycle above the root.
  for (let i = all.length; i > 1 && top.parent !== null; i--) top = top.parent;
  top.parent = null;

  top.depth = 0;
  settle(root, root);
  for (const node of all) {
    // Nearly all come after their parents.
    const above = node.parent?.depth ?? UNKNOWN;
    if (above === UNKNOWN) settle(node, root);
    else node.depth = above + 1;
    node.parent?.children.push(node);
  }
  return top;
}

/** Sets the depth of a node, and of those above it that have none yet. */
function settle(start: SpanNode, root: SpanNode): void {
  const path = new Set<SpanNode>();
  let at = start;
  while (at.depth === UNKNOWN) {
    path.add(at);
    // The end of a chain or cycle becomes a child of the root.
    if (at.parent === null || path.has(at.parent)) at.parent = root;
    at = at.parent;
  }
  for (const node of [...path].reverse()) node.depth = node.parent!.depth + 1;
}

function orderDepthFirst(top: SpanNode): SpanNode[] {
  const nodes: SpanNode[] = [];
  const stack = [top];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    node.index = nodes.length;
    nodes.push(node);
    if (node.children.length > 1) {
      node.children.sort((a, b) => a.span.startTime - b.span.startTime);
    }
    for (let i = node.children.length - 1; i >= 0; i--) {
      stack.push(node.children[i]!);
    }
  }
  return nodes;
}
