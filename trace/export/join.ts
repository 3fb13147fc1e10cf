/**
 * Joins the spans of requests, pages and services into one tree. Spans may come
 * in any order.
 *
 * The parent of a span is, in this order:
 *
 * 1. the span that its `parentId` names;
 * 2. the span whose link names it. The first link to a span wins;
 * 3. the root.
 *
 * Records stay unchanged: spans with another parent, child or time are copied.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../types.ts";
import { alignClocks, type Node, processOf } from "./align_clocks.ts";
import {
  ACTION,
  CLOCK_SHIFT,
  isClientSpan,
  isDetached,
  isOpenSpan,
  joinedMetadata,
  LINK,
  linksOf,
  parseLink,
} from "./semantics.ts";

/** Facts about a trace that its spans don't contain. */
export interface JoinOptions {
  /** The number of spans that had no room. */
  readonly droppedSpans?: number;
  /** The id of the root, if it is known. */
  readonly rootSpanId?: string | undefined;
}

/**
 * Joins spans into one trace.
 *
 * @param spans At least one. Of spans with the same id, the first is kept. But
 * an ended one replaces an open one.
 */
export function joinSpans(
  spans: readonly SpanData[],
  { droppedSpans = 0, rootSpanId }: JoinOptions = {},
): SerializedTrace {
  const byId = new Map<string, Node>();
  for (const span of spans) {
    const known = byId.get(span.id)?.span;
    if (known === undefined || replaces(span, known)) {
      byId.set(span.id, createNode(span));
    } else if (known.traceId !== span.traceId) droppedSpans++;
  }
  const nodes = [...byId.values()];
  for (const node of nodes) {
    node.parent = byId.get(node.span.parentId ?? "") ?? null;
  }
  cutCycles(nodes);
  const linked = applyLinks(nodes, byId);
  cutCycles(nodes);
  const root = findRoot(nodes, linked, byId.get(rootSpanId ?? ""));
  for (const node of nodes) {
    if (node.parent !== null || node === root) continue;
    node.parent = root;
    node.isOrphan = true;
  }
  for (const node of nodes) node.parent?.children.push(node);
  if (nodes.some(({ process }) => process !== root.process)) alignClocks(root);
  return finish(nodes, root, droppedSpans);
}

/** Whether a span is a later record of the same span. */
export function replaces(span: SpanData, known: SpanData): boolean {
  return isOpenSpan(known) && !isOpenSpan(span) &&
    known.traceId === span.traceId &&
    isClientSpan(known) === isClientSpan(span);
}

function createNode(span: SpanData): Node {
  return {
    span,
    process: processOf(span),
    parent: null,
    children: [],
    isLinked: false,
    isOrphan: false,
    isCut: false,
    shift: 0,
    walk: 0,
  };
}

function startTimeOf({ span, shift }: Node): number {
  return span.startTime + shift;
}

/** Earlier spans come first, and the others are in order of their id. */
function compare(a: Node, b: Node): number {
  return startTimeOf(a) - startTimeOf(b) || (a.span.id < b.span.id ? -1 : 1);
}

/**
 * Makes linked spans children of the spans that link to them.
 *
 * @returns The trace ids of spans that another trace links to.
 */
function applyLinks(
  nodes: readonly Node[],
  byId: ReadonlyMap<string, Node>,
): Set<string> {
  const linked = new Set<string>();
  const linking = nodes.filter(({ span }) => linksOf(span).length > 0);
  for (const from of linking.sort(compare)) {
    for (const { traceId, spanId } of linksOf(from.span)) {
      const target = byId.get(spanId);
      if (target?.span.traceId !== traceId) continue;
      const isUpgrade = parseLink(from.span.attributes[LINK])?.spanId !==
        spanId;
      const parent = isUpgrade ? from.parent : from;
      if (parent === null || parent === target) continue;
      if (target.parent === null) {
        target.parent = parent;
        target.isLinked = true;
      }
      if (target.parent === parent && traceId !== from.span.traceId) {
        linked.add(traceId);
      }
    }
  }
  return linked;
}

/** Removes a parent from each cycle of parents. */
function cutCycles(nodes: readonly Node[]): void {
  for (const node of nodes) node.walk = 0;
  let walk = 0;
  for (const start of nodes) {
    walk++;
    let node: Node | null = start;
    while (node !== null && node.walk === 0) {
      node.walk = walk;
      node = node.parent;
    }
    if (node?.walk === walk) cut(node);
  }
}

/** Cuts the least reliable parent: by a link, or else of a browser. */
function cut(node: Node): void {
  const rank = (node: Node) =>
    node.isLinked ? 0 : isClientSpan(node.span) ? 1 : 2;
  let weakest = node;
  for (let at = node.parent!; at !== node; at = at.parent!) {
    const order = rank(at) - rank(weakest) || compare(at, weakest);
    if (order < 0) weakest = at;
  }
  weakest.parent = null;
  weakest.isCut ||= !weakest.isLinked;
  weakest.isLinked = false;
}

/**
 * Returns the span at the top: an action of a user, or else the earliest
 * request or job. Spans of a browser that lead to no request come last.
 */
function findRoot(
  nodes: readonly Node[],
  linked: ReadonlySet<string>,
  known: Node | undefined,
): Node {
  if (known?.parent === null) return known;
  const tops = nodes.filter(({ parent }) => parent === null);
  const own = tops.filter(({ span }) => !linked.has(span.traceId));
  const serving = new Set<Node>();
  for (const node of nodes) {
    if (isClientSpan(node.span)) continue;
    let at: Node | null = node;
    for (; at !== null && !serving.has(at); at = at.parent) serving.add(at);
  }
  const rank = (node: Node) => {
    const { parentId, attributes } = node.span;
    const isAction = isClientSpan(node.span) &&
      attributes[ACTION] !== undefined;
    if (isAction) return 0;
    if (!serving.has(node)) return 3;
    return parentId === null ? 1 : 2;
  };
  return (own.length > 0 ? own : tops).reduce((root, node) =>
    (rank(node) - rank(root) || compare(node, root)) < 0 ? node : root
  );
}

/** Writes the joined records. */
function finish(
  nodes: readonly Node[],
  root: Node,
  droppedSpans: number,
): SerializedTrace {
  const byStart = (a: Node, b: Node) => startTimeOf(a) - startTimeOf(b);
  const sorted = nodes.toSorted(byStart);
  for (const { children } of nodes) children.sort(byStart);
  const spans = sorted.map(joinedSpan);
  return {
    id: root.span.traceId,
    rootSpanId: root.span.id,
    ...timesOf(root),
    spans,
    metadata: {
      ...joinedMetadata(root.span, spans),
      ...(droppedSpans > 0 && { droppedSpans }),
    },
  };
}

/** Returns the record, or a copy if anything differs. */
function joinedSpan(node: Node): SpanData {
  const { span, parent, shift } = node;
  // The root's parent may be a span that is stored elsewhere.
  const parentId = parent?.span.id ?? (node.isCut ? null : span.parentId);
  const children = node.children.map(({ span }) => span.id);
  const isSame = shift === 0 && parentId === span.parentId &&
    children.length === span.children.length &&
    children.every((id, i) => id === span.children[i]);
  if (isSame) return span;
  if (shift === 0) return { ...span, parentId, children };
  const isFirst = parent?.process !== node.process;
  return {
    ...span,
    parentId,
    startTime: span.startTime + shift,
    endTime: span.endTime + shift,
    attributes: isFirst
      ? { ...span.attributes, [CLOCK_SHIFT]: shift }
      : span.attributes,
    events: span.events.map((event) => ({
      ...event,
      time: event.time + shift,
    })),
    children,
  };
}

/**
 * Returns the times from the earliest start to the latest end. A server doesn't
 * wait for the work of a browser, so only a browser's root counts that work.
 */
function timesOf(
  root: Node,
): Pick<SpanData, "startTime" | "endTime" | "duration"> {
  let { startTime: start, endTime: end } = root.span;
  const isInBrowser = isClientSpan(root.span);
  const todo = [...root.children];
  for (let node = todo.pop(); node !== undefined; node = todo.pop()) {
    const { span, shift } = node;
    if (isDetached(span)) continue;
    if (isInBrowser || !isClientSpan(span)) {
      start = Math.min(start, span.startTime + shift);
      if (!isOpenSpan(span)) end = Math.max(end, span.endTime + shift);
    }
    for (const child of node.children) todo.push(child);
  }
  const isRoot = start === root.span.startTime && end === root.span.endTime;
  // The recorded duration is more precise than the difference of two times.
  const duration = isRoot ? root.span.duration : end - start;
  return { startTime: start, endTime: end, duration };
}
