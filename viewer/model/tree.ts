/**
 * A trace as a tree, ready to be drawn: every span once, children below their
 * parents and ordered by start time, with what the waterfall shows beside them.
 *
 * Nothing here recurses. An imported trace may be as deep as it is long.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import { type Interval, totalLength } from "./intervals.ts";
import { selfSegments } from "./self_time.ts";

/** A span with its place in the tree. */
export interface SpanNode {
  /** The record. */
  readonly span: SpanData;
  /** The place in depth-first order, from 0. */
  index: number;
  /** How many spans are above. */
  depth: number;
  /** The span above, or `null` for the top. */
  parent: SpanNode | null;
  /** The spans directly below, by start time. */
  children: SpanNode[];
  /** The index of the last descendant; `index` without children. */
  last: number;
  /** How long none of the children it waits for ran, in milliseconds. */
  selfTime: number;
  /** How many spans below have failed. */
  errorsBelow: number;
}

/** A trace with its spans in depth-first order. */
export interface TraceTree {
  /** The record. */
  readonly trace: SerializedTrace;
  /** All spans, depth first by start time. */
  readonly nodes: readonly SpanNode[];
  /** Spans by id. */
  readonly byId: ReadonlyMap<string, SpanNode>;
  /** The earliest start of any span: a browser may begin before the server. */
  readonly start: number;
  /** The latest end of any span. */
  readonly end: number;
}

/** When none of the children that a span waits for ran. */
export function selfOf({ span, children }: SpanNode): Interval[] {
  return selfSegments(span, children.map((child) => child.span));
}

/** Whether a span counts as failed. */
export function isFailed(span: SpanData): boolean {
  return span.status !== "ok";
}

/**
 * Builds the tree of a trace.
 *
 * The parent of a span is the one its `parentId` names. A span whose parent
 * isn't there hangs below the trace's root, so that an orphan is seen where it
 * belongs; the root itself, or the browser span above it, is the top. Spans
 * that name each other as parent in a circle are treated as orphans.
 */
export function buildTree(trace: SerializedTrace): TraceTree {
  const all = trace.spans.map(createNode);
  const byId = new Map<string, SpanNode>();
  for (const node of all) {
    if (!byId.has(node.span.id)) byId.set(node.span.id, node);
  }
  const top = linkParents(all, byId, trace.rootSpanId);
  for (const node of all) {
    if (node.children.length > 1) {
      node.children.sort((a, b) => a.span.startTime - b.span.startTime);
    }
  }
  const nodes = top === undefined ? [] : orderDepthFirst(top);
  for (const node of nodes) {
    // A leaf takes its duration, which comes from a finer clock.
    node.selfTime = node.children.length === 0
      ? node.span.duration
      : totalLength(selfOf(node));
  }
  countErrors(nodes);

  let start = Infinity;
  let end = -Infinity;
  for (const { span } of nodes) {
    start = Math.min(start, span.startTime);
    end = Math.max(end, span.endTime);
  }
  if (nodes.length === 0) start = end = trace.startTime;
  return { trace, nodes, byId, start, end };
}

function createNode(span: SpanData): SpanNode {
  return {
    span,
    index: 0,
    depth: 0,
    parent: null,
    children: [],
    last: 0,
    selfTime: 0,
    errorsBelow: 0,
  };
}

/** Sets `parent` and `children` of all nodes and returns the top one. */
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
  const top = cutAbove(root);
  const reachesTop = new Set([top]);
  for (const node of all) {
    // As it nearly always is: parents are recorded before their children.
    if (node.parent !== null && reachesTop.has(node.parent)) {
      reachesTop.add(node);
      continue;
    }
    const path = new Set<SpanNode>();
    let at = node;
    while (!reachesTop.has(at) && at.parent !== null && !path.has(at)) {
      path.add(at);
      at = at.parent;
    }
    // `at` ends a chain or closes a circle: it becomes an orphan of the root.
    if (!reachesTop.has(at)) at.parent = root;
    reachesTop.add(at);
    for (const visited of path) reachesTop.add(visited);
  }
  for (const node of all) node.parent?.children.push(node);
  return top;
}

/** The topmost ancestor of `node`; a circle above it is cut open. */
function cutAbove(node: SpanNode): SpanNode {
  const seen = new Set<SpanNode>();
  let top = node;
  while (top.parent !== null && !seen.has(top.parent)) {
    seen.add(top);
    top = top.parent;
  }
  top.parent = null;
  return top;
}

function orderDepthFirst(top: SpanNode): SpanNode[] {
  const nodes: SpanNode[] = [];
  const stack = [top];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    node.depth = node.parent === null ? 0 : node.parent.depth + 1;
    node.index = nodes.length;
    nodes.push(node);
    for (let i = node.children.length - 1; i >= 0; i--) {
      stack.push(node.children[i]!);
    }
  }
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i]!;
    node.last = node.children.at(-1)?.last ?? node.index;
  }
  return nodes;
}

function countErrors(nodes: readonly SpanNode[]): void {
  for (let i = nodes.length - 1; i > 0; i--) {
    const node = nodes[i]!;
    node.parent!.errorsBelow += node.errorsBelow +
      (isFailed(node.span) ? 1 : 0);
  }
}
