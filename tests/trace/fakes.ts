/** Fakes and queries shared by the tests of tracing. */

import {
  type Clock,
  createTracer,
  type SpanData,
  type TraceData,
  type Tracer,
  type TracerImpl,
  type TracerOptions,
} from "@quartet/kit/trace";

/** 2026-01-01T00:00:00Z, the initial time of test clocks. */
export const EPOCH = 1_767_225_600_000;

/** A clock that the test advances. */
export class ManualClock implements Clock {
  /** Milliseconds since the clock was created. */
  time = 0;
  /** Offset of the wall clock, in milliseconds. */
  wallOffset = 0;

  /** Advances both clocks. */
  advance(milliseconds: number): void {
    this.time += milliseconds;
  }

  monotonic(): number {
    return this.time;
  }

  wall(): number {
    return EPOCH + this.time + this.wallOffset;
  }
}

/** Creates a tracer with its own clock. */
export function createTestTracer(
  options: TracerOptions = {},
): { tracer: TracerImpl; clock: ManualClock } {
  const clock = new ManualClock();
  return { tracer: createTracer({ clock, ...options }), clock };
}

/** Returns the only stored trace. */
export function onlyTrace(tracer: Tracer): TraceData {
  const traces = tracer.getTraces();
  if (traces.length === 1) return traces[0]!;
  throw new Error(`Expected one trace, there are ${traces.length}`);
}

export function rootOf(trace: TraceData): SpanData {
  return trace.spans.get(trace.rootSpanId)!;
}

/** Returns the only span with this name. */
export function spanNamed(trace: TraceData, name: string): SpanData {
  const found = [...trace.spans.values()].filter((span) => span.name === name);
  if (found.length === 1) return found[0]!;
  throw new Error(`Expected one span ${name}, there are ${found.length}`);
}

/** Returns the spans as `name` or `name(child, child)`, for comparing trees. */
export function treeOf(trace: TraceData, span = rootOf(trace)): string {
  const children = span.children
    .map((id) => treeOf(trace, trace.spans.get(id)!));
  return children.length === 0
    ? span.name
    : `${span.name}(${children.join(", ")})`;
}
