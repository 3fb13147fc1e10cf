/**
 * The critical path: the chain of spans that decided when the trace ended.
 *
 * It is followed back from the end of the trace. A parent waited for the child
 * that finished last. The time between such children belongs to the parent.
 * Only faster spans on this path make the trace shorter.
 *
 * @module
 */

import { type Interval, totalLength } from "../../trace/export/self_time.ts";
import {
  ACTION,
  isClientSpan,
  isOpenSpan,
  waitsFor,
} from "../../trace/export/semantics.ts";
import { sumOf } from "./numbers.ts";
import { HOME, processOf } from "./process.ts";
import type { SpanNode, TraceTree } from "./tree.ts";

/**
 * Returns the intervals of a span on the critical path, in order. `undefined`
 * if it wasn't on it, and empty if it only waited for its children.
 */
export type CriticalPath = (node: SpanNode) => readonly Interval[] | undefined;

/** The part of the trace that decided through a span and all below it. */
type Windows = Map<SpanNode, Interval>;

/**
 * Finds the critical path of a trace lazily. The part below a span is computed
 * when a span there is shown.
 */
export function criticalPath(tree: TraceTree): CriticalPath {
  const { nodes, start, end } = tree;
  const windows: Windows = new Map(
    nodes.slice(0, 1).map((top) => [top, [start, end]]),
  );
  const known = new Map<SpanNode, readonly Interval[]>();
  return (node) => {
    const unknown: SpanNode[] = [];
    let at: SpanNode | null = node;
    for (; at !== null && !known.has(at); at = at.parent) unknown.push(at);
    for (const above of unknown.reverse()) {
      if (known.has(above)) continue;
      const window = windows.get(above);
      if (window === undefined) return undefined;
      const own = walkBack(above, window, windows);
      known.set(above, dividePhases(above, own, known));
    }
    return known.get(node);
  };
}

/**
 * Returns the intervals of a span's own work within a window, and adds the
 * windows of the spans it waited for.
 */
function walkBack(
  { span, children }: SpanNode,
  [from, to]: Interval,
  windows: Windows,
): Interval[] {
  const segments: Interval[] = [];
  const { startTime, endTime } = span;
  const add = (start: number, end: number) =>
    segments.push(
      ...between(Math.max(start, startTime), Math.min(end, endTime)),
    );
  const phaseEnd = (name: string) =>
    children.find((child) => isPhase(child) && child.span.name === name)?.span
      .endTime ?? to;
  // A server may note the end of a response late, and a page uses its beginning.
  const [begun, received] = [phaseEnd("request"), phaseEnd("response")];
  const endOf = ({ span: child }: SpanNode) =>
    processOf(child) === processOf(span)
      ? child.endTime
      : Math.min(child.endTime, received, to);
  let cursor = to;
  const latestFirst = children.map((child) => ({ child, last: endOf(child) }))
    .sort((a, b) => b.last - a.last);
  for (const { child, last } of latestFirst) {
    const start = Math.max(child.span.startTime, from);
    const isAnswer = processOf(child.span) !== processOf(span);
    const end = isAnswer && cursor >= begun ? Math.min(last, cursor) : last;
    // A child that ended after its parent continued didn't delay it.
    if (end > cursor || end <= start) continue;
    if (child.detached || isOpenSpan(child.span)) continue;
    if (!waitsFor(span, child.span) || isPhase(child)) continue;
    if (cursor > end) add(end, cursor);
    windows.set(child, [start, end]);
    cursor = start;
  }
  if (cursor > from) add(from, cursor);
  return segments.reverse();
}

/** The phases of a page load. Requests in a phase are its siblings. */
const PHASES = ["redirect", "connect", "request", "response", "dom"];

function isPhase({ span, parent }: SpanNode): boolean {
  return parent?.span.attributes[ACTION] === "load" && isClientSpan(span) &&
    PHASES.includes(span.name);
}

/**
 * Divides a page load's own intervals among its phases.
 *
 * @returns What is outside of all phases.
 */
function dividePhases(
  { span, children }: SpanNode,
  own: Interval[],
  known: Map<SpanNode, readonly Interval[]>,
): Interval[] {
  if (span.attributes[ACTION] !== "load") return own;
  let rest = own;
  for (const phase of children.filter(isPhase)) {
    const { startTime, endTime } = phase.span;
    const during = rest.flatMap(([from, to]) =>
      between(Math.max(from, startTime), Math.min(to, endTime))
    );
    if (during.length > 0) known.set(phase, during);
    rest = rest.flatMap(([from, to]) => [
      ...between(from, Math.min(to, startTime)),
      ...between(Math.max(from, endTime), to),
    ]);
  }
  return rest;
}

function between(from: number, to: number): Interval[] {
  return to > from ? [[from, to]] : [];
}

/**
 * Sums up the critical path: its spans, and its shares by process and layer of
 * the server. Both are in order of their own time, the longest first.
 */
export function sumUpCriticalPath(tree: TraceTree, path: CriticalPath) {
  const spans = tree.nodes
    .map((node) => ({ node, time: totalLength(path(node) ?? []) }))
    .filter(({ time }) => time > 0)
    .sort((a, b) => b.time - a.time);
  const byName = Map.groupBy(spans, ({ node: { span } }) => {
    const process = processOf(span);
    return process === HOME ? span.layer : process;
  });
  const shares = Array.from(byName, ([name, parts]) => ({
    name,
    /** Its span with the longest time on the path. */
    longest: parts[0]!.node,
    time: sumOf(parts, ({ time }) => time),
  })).sort((a, b) => b.time - a.time);
  return { spans, shares };
}
