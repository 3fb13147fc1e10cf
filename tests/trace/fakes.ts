/** Stand-ins and look-ups that the tests of tracing share. */

import {
  type Clock,
  createTracer,
  type SpanData,
  type TraceData,
  type Tracer,
  type TracerImpl,
  type TracerOptions,
} from "@quartet/kit/trace";

/** 2026-01-01T00:00:00Z, where the clock of a test begins. */
export const EPOCH = 1_767_225_600_000;

/** A clock that only moves when it is told to. */
export class ManualClock implements Clock {
  /** Milliseconds since the clock was made. */
  time = 0;
  /** What the wall clock is off by. */
  wallOffset = 0;

  /** Moves both clocks. */
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

/** A tracer on a clock of its own. */
export function createTestTracer(
  options: TracerOptions = {},
): { tracer: TracerImpl; clock: ManualClock } {
  const clock = new ManualClock();
  return { tracer: createTracer({ clock, ...options }), clock };
}

/** The one trace that was stored. */
export function onlyTrace(tracer: Tracer): TraceData {
  const traces = tracer.getTraces();
  if (traces.length === 1) return traces[0]!;
  throw new Error(`Expected one trace, there are ${traces.length}`);
}

/** The root span of a trace. */
export function rootOf(trace: TraceData): SpanData {
  return trace.spans.get(trace.rootSpanId)!;
}

/** The one span of a name. */
export function spanNamed(trace: TraceData, name: string): SpanData {
  const found = [...trace.spans.values()].filter((span) => span.name === name);
  if (found.length === 1) return found[0]!;
  throw new Error(`Expected one span ${name}, there are ${found.length}`);
}

/** The spans as `name` or `name(child, child)`, for comparing trees. */
export function treeOf(trace: TraceData, span = rootOf(trace)): string {
  const children = span.children
    .map((id) => treeOf(trace, trace.spans.get(id)!));
  return children.length === 0
    ? span.name
    : `${span.name}(${children.join(", ")})`;
}
