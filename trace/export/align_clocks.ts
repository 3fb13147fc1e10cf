/**
 * Aligns the clocks of a trace's processes: page, server and other services.
 *
 * The method is Jaeger's. If the first span of a process begins before or after
 * its caller's span, although it is shorter, it moves to the caller's middle: the
 * network then takes equally long both ways. If it is longer than its caller, it
 * only moves to the caller's start. The spans of that process below it move
 * along. Unlike Jaeger, a span moves no further than necessary if the measured
 * error of the browser's clock explains the difference.
 *
 * @module
 */

import type { SpanData } from "../types.ts";
import {
  CLOCK_ERROR,
  isClientSpan,
  isDetached,
  isOpenSpan,
  spanKind,
} from "./semantics.ts";

/** A span of the tree that `join.ts` builds. */
export interface Node {
  /** The record, on the clock of its process. */
  readonly span: SpanData;
  /** The process that recorded it. */
  readonly process: string;
  /** The span above. */
  parent: Node | null;
  /** The spans below. */
  readonly children: Node[];
  /** Whether the parent is known to have called it, by a link. */
  isLinked: boolean;
  /** Whether the parent is only a place for a span without a known parent. */
  isOrphan: boolean;
  /** Whether its parent was part of a cycle. */
  isCut: boolean;
  /** The walk that visited the node, while cycles are searched. */
  walk: number;
  /** The milliseconds to add to its times. */
  shift: number;
}

/** Returns the process of a span: the browser, another service, or this one. */
export function processOf(span: SpanData): string {
  return isClientSpan(span)
    ? "app.origin"
    : String(span.attributes["service.name"] ?? "");
}

/** Sets the shift of every span below a root. */
export function alignClocks(root: Node): void {
  const error = Number(root.span.attributes[CLOCK_ERROR] ?? 0);
  const shifts = new Map([[root.process, 0]]);
  // The name of a process follows the spans below its first one.
  const todo: (Node | string)[] = [...root.children];
  for (let item = todo.pop(); item !== undefined; item = todo.pop()) {
    if (typeof item === "string") {
      shifts.delete(item);
      continue;
    }
    const { process } = item;
    if (!shifts.has(process)) {
      shifts.set(process, shiftOf(item, error));
      todo.push(process);
    }
    item.shift = shifts.get(process)!;
    for (const child of item.children) todo.push(child);
  }
}

/** Times of other formats are rounded to at most this, in milliseconds. */
const TOLERANCE = 0.001;

/** Returns the shift of the first span of a process. */
function shiftOf(node: Node, clockError: number): number {
  const { parent, span } = node;
  if (parent === null || node.isOrphan) return 0;
  const from = parent.span.startTime + parent.shift;
  const to = parent.span.endTime + parent.shift;
  const startsLate = (shift: number) =>
    span.startTime + shift >= from - TOLERANCE;
  const endsEarly = (shift: number) => span.endTime + shift <= to + TOLERANCE;

  // Mostly, the clock is the parent's, or both are right.
  const fits = [parent.shift, 0].find((s) => startsLate(s) && endsEarly(s));
  if (fits !== undefined) return fits;
  const base = parent.shift;
  // A response's body may take longer than the call that waits for its headers.
  if (startsLate(base) && span.startTime + base < to) return base;
  const isAwaited = node.isLinked || spanKind(parent.span) === 3;
  if (startsLate(base) && !isAwaited) return base;
  const room = (to - from) - (span.endTime - span.startTime);
  const isLonger = room < 0 || !isTimed(span) || !isTimed(parent.span);
  if (isLonger) return startsLate(base) ? base : rounded(from - span.startTime);
  const least = startsLate(base) ? to - span.endTime : from - span.startTime;
  const isExplained = Math.abs(least - base) <= clockError &&
    isClientSpan(span) !== isClientSpan(parent.span);
  return rounded(isExplained ? least : from + room / 2 - span.startTime);
}

/** Whether the end of a span says how long its caller waited. */
function isTimed(span: SpanData): boolean {
  return !isOpenSpan(span) && !isDetached(span);
}

/** The packed format writes multiples of this exactly. */
const UNITS = 1024;

function rounded(shift: number): number {
  return Math.round(shift * UNITS) / UNITS;
}
