/**
 * Traces in Chrome's Trace Event Format, which Perfetto opens.
 *
 * @module
 */

import { checkSerialized } from "../serialize.ts";
import type { AttributeValue, SerializedTrace } from "../types.ts";

/** A range of time, and its parent. */
export interface LaneSpan {
  readonly start: number;
  readonly end: number;
  /** The index of its parent in the list, or -1. */
  readonly parent: number;
}

/** The open spans of a lane, each inside the one before it. */
interface Lane {
  readonly number: number;
  readonly open: number[];
  /**
   * The end of the outermost one. Until then, the lane takes only its
   * descendants.
   */
  busyUntil: number;
}

/**
 * Assigns a lane to each span, so that two spans of a lane are nested or don't
 * overlap. A span uses its parent's lane if no sibling overlaps it, or else the
 * lane that has been free for longest.
 *
 * @returns The lane of each span, from 0, in the given order.
 */
export function assignLanes(spans: readonly LaneSpan[]): number[] {
  // Sorted by the time at which they become free.
  const queue: Lane[] = [];
  const laneOf = new Map<number, Lane>();
  const order = spans.map((_, i) => i).sort((a, b) => {
    const x = spans[a] as LaneSpan;
    const y = spans[b] as LaneSpan;
    return x.start - y.start || y.end - x.end || a - b;
  });
  for (const i of order) {
    const span = spans[i] as LaneSpan;
    let lane = laneOf.get(span.parent);
    if (lane === undefined || !fitsInside(span, lane, spans)) {
      lane = queue.length > 0 && queue[0]!.busyUntil <= span.start
        ? queue.shift()!
        : { number: queue.length, open: [], busyUntil: 0 };
      lane.open.length = 0;
      lane.busyUntil = span.end;
      const before = queue.findLastIndex((other) =>
        other.busyUntil <= span.end
      );
      queue.splice(before + 1, 0, lane);
    }
    lane.open.push(i);
    laneOf.set(i, lane);
  }
  return spans.map((_, i) => laneOf.get(i)!.number);
}

/** Whether no sibling is open on the parent's lane. */
function fitsInside(
  span: LaneSpan,
  lane: Lane,
  spans: readonly LaneSpan[],
): boolean {
  const { open } = lane;
  const top = (): LaneSpan | undefined => spans[open.at(-1) ?? -1];
  while (
    open.at(-1) !== span.parent && (top()?.end ?? Infinity) <= span.start
  ) open.pop();
  return open.at(-1) === span.parent && span.end <= (top()?.end ?? -Infinity);
}

/** An event of a trace; times are in microseconds. */
export interface ChromeTraceEvent {
  /** The name of the span or event. For `M`, the kind of name that it sets. */
  readonly name: string;
  /** The layer. */
  readonly cat?: string;
  /** `X` is a span, `i` a moment, `M` a name for a process or thread. */
  readonly ph: "X" | "i" | "M";
  /** The time since the start of the earliest trace. */
  readonly ts?: number;
  /** The duration of a span. */
  readonly dur?: number;
  /** The scope of a moment's mark: `t` for its thread. */
  readonly s?: "t";
  /** The trace. */
  readonly pid: number;
  /** The lane. */
  readonly tid: number;
  /** The details of a selected event. */
  readonly args: Readonly<
    Record<
      string,
      AttributeValue | null | Readonly<Record<string, AttributeValue>>
    >
  >;
}

/** The content of a trace file. */
export interface ChromeTrace {
  /** The spans and moments, each trace after its names. */
  readonly traceEvents: readonly ChromeTraceEvent[];
  /** The unit for displayed times. The file has microseconds. */
  readonly displayTimeUnit: "ms";
  /** Metadata of the file. */
  readonly otherData: {
    /** The origin of `ts`, in epoch milliseconds. */
    readonly epoch: number;
    /** The same time as ISO 8601. */
    readonly startTime: string;
  };
}

/**
 * The steps of a microsecond. Times are whole eighths of a microsecond, which
 * are exact in binary, and finer than epoch milliseconds in a double (244 ns).
 * So rounding never moves a child's end beyond its parent's. Perfetto would
 * drop such a child.
 */
const STEPS = 8;

/**
 * Writes traces as a Chrome trace, for Perfetto or Chrome's Performance panel.
 * Each trace is a process, named after its root span. The format has only
 * nesting, so spans that run in parallel are on different threads.
 * `args.parent` names their parent.
 *
 * @param traces The traces.
 * @returns An object to store as JSON.
 *
 * @example
 * ```ts
 * import { toChromeTrace } from "@quartet/kit/trace";
 *
 * const { traceEvents } = toChromeTrace([]);
 * console.assert(traceEvents.length === 0);
 * ```
 */
export function toChromeTrace(
  traces: readonly SerializedTrace[],
): ChromeTrace {
  checkSerialized(traces, "write a Chrome trace");
  const epoch = startOf(traces);
  return {
    traceEvents: traces.flatMap((trace, i) => traceEvents(trace, i + 1, epoch)),
    displayTimeUnit: "ms",
    otherData: { epoch, startTime: dateText(epoch) },
  };
}

function traceEvents(
  trace: SerializedTrace,
  pid: number,
  epoch: number,
): ChromeTraceEvent[] {
  const steps = (time: number) => Math.round((time - epoch) * 1000 * STEPS);
  const places = new Map(trace.spans.map((span, i) => [span.id, i]));
  const lanes = assignLanes(trace.spans.map((span) => ({
    start: steps(span.startTime),
    end: steps(Math.max(span.startTime, span.endTime)),
    parent: span.parentId === null ? -1 : places.get(span.parentId) ?? -1,
  })));
  const laneCount = lanes.reduce((most, lane) => Math.max(most, lane + 1), 0);
  const events = nameEvents(trace, pid, laneCount);
  trace.spans.forEach((span, i) => {
    const { droppedAttributes, droppedEvents } = span;
    const tid = lanes[i]! + 1;
    const start = steps(span.startTime);
    const end = Math.max(start, steps(span.endTime));
    events.push({
      name: span.name,
      cat: span.layer,
      ph: "X",
      ts: start / STEPS,
      dur: (end - start) / STEPS,
      pid,
      tid,
      args: {
        id: span.id,
        parent: span.parentId,
        status: span.status,
        attributes: span.attributes,
        // A linked span has another trace id than the process.
        ...(span.traceId !== trace.id && { traceId: span.traceId }),
        ...(droppedAttributes !== undefined && { droppedAttributes }),
        ...(droppedEvents !== undefined && { droppedEvents }),
      },
    });
    for (const { name, time, attributes } of span.events) {
      events.push({
        name,
        cat: span.layer,
        ph: "i",
        s: "t",
        ts: steps(time) / STEPS,
        pid,
        tid,
        args: { span: span.id, ...(attributes && { attributes }) },
      });
    }
  });
  return events;
}

/** The names of a trace's process and threads, and their order. */
function nameEvents(
  trace: SerializedTrace,
  pid: number,
  laneCount: number,
): ChromeTraceEvent[] {
  const { spans, rootSpanId, metadata, id, startTime, endTime, duration } =
    trace;
  const root = spans.find((span) => span.id === rootSpanId) ?? spans[0];
  const status = metadata.statusCode === undefined
    ? ""
    : ` · ${metadata.statusCode}`;
  const event = (
    name: string,
    tid: number,
    args: ChromeTraceEvent["args"],
  ): ChromeTraceEvent => ({ name, ph: "M", pid, tid, args });
  const events = [
    event("process_name", 0, { name: `${root?.name ?? "trace"}${status}` }),
    event("process_labels", 0, {
      labels: `${dateText(startTime)} · ${id}`,
      // Not shown, but needed to read the trace back.
      trace: { id, rootSpanId, startTime, endTime, duration, ...metadata },
    }),
    event("process_sort_index", 0, { sort_index: pid }),
  ];
  for (let tid = 1; tid <= laneCount; tid++) {
    const name = tid === 1 ? metadata.origin : `parallel ${tid}`;
    events.push(
      event("thread_name", tid, { name }),
      event("thread_sort_index", tid, { sort_index: tid }),
    );
  }
  return events;
}

/**
 * The earliest start of any span. A browser's span may start before its trace.
 */
function startOf(traces: readonly SerializedTrace[]): number {
  const start = traces.flatMap((trace) => [trace, ...trace.spans])
    .reduce((least, { startTime }) => Math.min(least, startTime), Infinity);
  return start === Infinity ? 0 : start;
}

/** ISO 8601, or an empty text for a time outside the range of `Date`. */
function dateText(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}
