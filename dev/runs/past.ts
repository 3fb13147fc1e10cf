import { createTracer } from "../../trace/record/tracer.ts";
import type { TracerOptions } from "../../trace/record/tracer_options.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";
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

/** Receives what {@linkcode Past} reads. */
export interface PastListener {
  /** Called with spans that were recorded together, in order of the runs. */
  onSpans(trace: TraceData, run: EarlierRun): void;
  /** Called with a damaged segment. The rest of it is left out. */
  onDamage(path: string, reason: string): void;
}

/** The time for lines before other work has its turn, in milliseconds. */
const SLICE = 8;

/**
 * The traces of earlier runs. Their lines are read after the start, in slices.
 * A reading reads the rest at once.
 */
export class Past {
  readonly #maxTraces: number;
  /** Joins the spans of all runs. */
  readonly #tracer: Tracer;
  readonly #lines: Iterator<void>;
  #isRead = false;
  readonly #slice = new Delay(() => {
    const end = performance.now() + SLICE;
    while (!this.#isRead && performance.now() < end) this.#step();
    if (!this.#isRead) this.#slice.start(0);
  });
  /** The last run of each trace id. */
  readonly #runs = new Map<string, number>();
  readonly #droppedSpans = new Map<string, number>();
  /** The ids of traces that belong to the present run. */
  readonly #taken = new Set<string>();
  /** The traces with their run. */
  readonly #marked = new WeakMap<TraceData, TraceData>();

  /** Creates a reader of segments, which are in order of their start. */
  constructor(
    segments: readonly Segment[],
    listener: PastListener,
    limits: Limits,
  ) {
    this.#maxTraces = limits.maxTraces;
    this.#tracer = createTracer(limits);
    this.#lines = this.#readLines(segments, listener);
    this.#slice.start(0);
  }

  /** Returns earlier traces and then the given ones, as far as they fit. */
  before(present: readonly TraceData[]): TraceData[] {
    const room = this.#maxTraces - present.length;
    if (room <= 0) return [...present];
    this.finish();
    const earlier = this.#tracer.getTraces()
      .filter(({ id }) => !this.#taken.has(id)).slice(-room)
      .map((trace) => this.#mark(trace));
    return [...earlier, ...present];
  }

  /** Returns the trace with an id, or with a linked id. */
  find(traceId: string): TraceData | undefined {
    this.finish();
    const trace = this.#tracer.getTrace(traceId);
    return trace === undefined || this.#taken.has(trace.id)
      ? undefined
      : this.#mark(trace);
  }

  /** Removes the trace with an id, and returns its spans. */
  take(traceId: string): readonly SpanData[] {
    this.finish();
    if (!this.#runs.has(traceId)) return [];
    const trace = this.find(traceId);
    if (trace === undefined) return [];
    this.#taken.add(trace.id);
    return [...trace.spans.values()];
  }

  /** Stops reading in slices. */
  close(): void {
    this.#slice.cancel();
  }

  #mark(trace: TraceData): TraceData {
    const known = this.#marked.get(trace);
    if (known !== undefined) return known;
    let run = 0;
    let { droppedSpans = 0 } = trace.metadata;
    const ids = new Set([...trace.spans.values()].map((span) => span.traceId));
    for (const id of ids) {
      run = Math.max(run, this.#runs.get(id) ?? 0);
      droppedSpans += this.#droppedSpans.get(id) ?? 0;
    }
    const marked = {
      ...trace,
      metadata: {
        ...trace.metadata,
        ...(droppedSpans > 0 && { droppedSpans }),
        run,
      },
    };
    this.#marked.set(trace, marked);
    return marked;
  }

  /** Reads all lines. */
  finish(): void {
    while (!this.#isRead) this.#step();
  }

  #step(): void {
    this.#isRead = this.#lines.next().done === true;
  }

  *#readLines(
    segments: readonly Segment[],
    listener: PastListener,
  ): Iterator<void> {
    let later = 0;
    for (const { lines } of segments) later += lines.length - 1;
    for (const { path, start, index, lines: [first, ...lines] } of segments) {
      later -= lines.length;
      // Older lines have no room.
      const surplus = Math.max(0, later + lines.length - this.#maxTraces);
      try {
        const header = readHeader(first!);
        yield;
        if (header === undefined) continue;
        const isCut = index > 0 || surplus > 0;
        const run = { start, changed: header.changed, isCut };
        for (const line of lines.slice(surplus)) {
          this.#readLine(line, run, listener);
          yield;
        }
      } catch (error) {
        listener.onDamage(path, (error as Error).message);
      }
    }
  }

  #readLine(line: string, run: EarlierRun, listener: PastListener): void {
    const { isEvents, trace } = readPart(line);
    const spans = [...trace.spans.values()];
    if (isEvents) {
      this.#tracer.mergeEvents(
        spans.flatMap(({ traceId, id, events }) =>
          events.map((event) => ({ traceId, spanId: id, event }))
        ),
      );
      return;
    }
    const { id, metadata: { droppedSpans = 0 } } = trace;
    this.#tracer.mergeSpans(spans);
    for (const { traceId } of spans) this.#runs.set(traceId, run.start);
    if (droppedSpans > 0) {
      const before = this.#droppedSpans.get(id) ?? 0;
      this.#droppedSpans.set(id, before + droppedSpans);
    }
    listener.onSpans(trace, run);
  }
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
