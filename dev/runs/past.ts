import { createTracer } from "../../trace/record/tracer.ts";
import type { TracerOptions } from "../../trace/record/tracer_options.ts";
import type { SpanData, TraceData } from "../../trace/types.ts";
import { Delay } from "../delay.ts";
import { type Header, readHeader, readPart } from "./lines.ts";
import type { Segment } from "./run_folder.ts";

/** An earlier run, as it was read. */
export interface EarlierRun {
  /** Its start, in epoch milliseconds. */
  readonly start: number;
  /** The files that have changed before it. */
  readonly changed: readonly string[];
  /** Whether its first requests are missing. */
  readonly isCut: boolean;
}

/** The limits of a tracer. */
export type Limits =
  & Required<Pick<TracerOptions, "maxTraces">>
  & Pick<TracerOptions, "maxSpansPerTrace">;

/** Receives what {@linkcode createPast} reads. */
export interface PastListener {
  /** Called with spans that were recorded together, in order of the runs. */
  readonly onSpans: (trace: TraceData, run: EarlierRun) => void;
  /** Called with a damaged segment. The rest of it is left out. */
  readonly onDamage: (path: string, reason: string) => void;
}

/** The time for lines before other work has its turn, in milliseconds. */
const SLICE = 8;

/**
 * Reads the traces of earlier runs. Their lines are read after the start, in
 * slices. A reading reads the rest at once.
 *
 * @param segments In order of their start.
 */
export function createPast(
  segments: readonly Segment[],
  { onSpans, onDamage }: PastListener,
  limits: Limits,
) {
  /** Joins the spans of all runs. */
  const tracer = createTracer(limits);
  /** The last run of each trace id. */
  const runs = new Map<string, number>();
  const droppedSpans = new Map<string, number>();
  /** The ids of traces that belong to the present run. */
  const taken = new Set<string>();
  /** The traces with their run. */
  const marked = new WeakMap<TraceData, TraceData>();
  const reading = readLines();
  let isRead = false;

  const slice = new Delay(() => {
    const end = performance.now() + SLICE;
    while (!isRead && performance.now() < end) step();
    if (!isRead) slice.start(0);
  });
  slice.start(0);

  /** Returns earlier traces and then the given ones, as far as they fit. */
  function before(present: readonly TraceData[]): TraceData[] {
    const room = limits.maxTraces - present.length;
    if (room <= 0) return [...present];
    finish();
    const earlier = tracer.getTraces()
      .filter(({ id }) => !taken.has(id)).slice(-room).map(mark);
    return [...earlier, ...present];
  }

  /** Returns the trace with an id, or with a linked id. */
  function find(traceId: string): TraceData | undefined {
    finish();
    const trace = tracer.getTrace(traceId);
    return trace === undefined || taken.has(trace.id) ? undefined : mark(trace);
  }

  /** Removes the trace with an id, and returns its spans. */
  function take(traceId: string): readonly SpanData[] {
    finish();
    if (!runs.has(traceId)) return [];
    const trace = find(traceId);
    if (trace === undefined) return [];
    taken.add(trace.id);
    return [...trace.spans.values()];
  }

  function mark(trace: TraceData): TraceData {
    const known = marked.get(trace);
    if (known !== undefined) return known;
    let run = 0;
    let { droppedSpans: dropped = 0 } = trace.metadata;
    const ids = new Set([...trace.spans.values()].map((span) => span.traceId));
    for (const id of ids) {
      run = Math.max(run, runs.get(id) ?? 0);
      dropped += droppedSpans.get(id) ?? 0;
    }
    const copy = {
      ...trace,
      metadata: {
        ...trace.metadata,
        ...(dropped > 0 && { droppedSpans: dropped }),
        run,
      },
    };
    marked.set(trace, copy);
    return copy;
  }

  /** Reads all lines. */
  function finish(): void {
    while (!isRead) step();
  }

  function step(): void {
    isRead = reading.next().done === true;
  }

  function* readLines(): Iterator<void> {
    let later = 0;
    for (const { lines } of segments) later += lines.length - 1;
    for (const { path, start, index, lines: [first, ...lines] } of segments) {
      later -= lines.length;
      // Older lines have no room.
      const surplus = Math.max(0, later + lines.length - limits.maxTraces);
      try {
        const header = readHeader(first!);
        yield;
        if (header === undefined) continue;
        const isCut = index > 0 || surplus > 0;
        const run = { start, changed: header.changed, isCut };
        for (const line of lines.slice(surplus)) {
          readLine(line, run);
          yield;
        }
      } catch (error) {
        onDamage(path, (error as Error).message);
      }
    }
  }

  function readLine(line: string, run: EarlierRun): void {
    const { isEvents, trace } = readPart(line);
    const spans = [...trace.spans.values()];
    if (isEvents) {
      tracer.mergeEvents(
        spans.flatMap(({ traceId, id, events }) =>
          events.map((event) => ({ traceId, spanId: id, event }))
        ),
      );
      return;
    }
    const { id, metadata: { droppedSpans: dropped = 0 } } = trace;
    tracer.mergeSpans(spans);
    for (const { traceId } of spans) runs.set(traceId, run.start);
    if (dropped > 0) {
      droppedSpans.set(id, (droppedSpans.get(id) ?? 0) + dropped);
    }
    onSpans(trace, run);
  }

  return {
    before,
    find,
    take,
    finish,
    /** Stops reading in slices. */
    close: () => slice.cancel(),
  };
}

/** Returns the state of files in the header of the last segment. */
export function lastHeader(segments: readonly Segment[]): Header | undefined {
  for (const { lines: [first] } of segments.toReversed()) {
    try {
      return readHeader(first!);
    } catch {
      // Damaged: it is set aside when its lines are read.
    }
  }
  return undefined;
}
