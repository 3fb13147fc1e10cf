import { LRUList } from "../../core/collections/lru_list.ts";
import { runSpan } from "../../core/observe.ts";
import { isOpenSpan } from "../export/semantics.ts";
import type {
  ClientSpanData,
  Layer,
  RemoteEvent,
  Span,
  SpanData,
  SpanOptions,
  TraceData,
  TraceEvent,
  TraceOptions,
  Tracer,
} from "../types.ts";
import {
  createTimeOrigin,
  readTracerOptions,
  settingsOf,
  type TracerOptions,
} from "./tracer_options.ts";
import { checkWork, getActiveSpan } from "./context.ts";
import { earlierOf, hostOf, takeEarlier, type TraceHost } from "./host.ts";
import { createIdGenerator, systemIds } from "../trace_context.ts";
import { MAX_RUNNING_TRACES } from "./limits.ts";
import type { SpanImpl } from "./span.ts";
import { Subscribers } from "./subscribers.ts";
import { toClientSpanData, toSpanData, toTraceData } from "./trace_data.ts";
import { TraceRecord } from "./trace_record.ts";
import { TraceStore } from "./trace_store.ts";

export type { TracerOptions };

const ALL_EVENTS: readonly TraceEvent["type"][] = [
  "trace:start",
  "trace:end",
  "trace:discard",
  "trace:update",
  "span:start",
  "span:end",
  "span:event",
  "span:merge",
];

/** The tracer of {@linkcode createTracer}. */
export class TracerImpl implements Tracer {
  readonly #host: TraceHost;
  readonly #store: TraceStore;
  /**
   * The running traces. A `Set` would hash each trace, which costs as much as a
   * span.
   */
  readonly #running = new LRUList<TraceRecord>();
  readonly #subscribers = new Subscribers();

  /**
   * Creates a tracer.
   *
   * @throws {TypeError} If an option is wrong or unknown.
   */
  constructor(options: TracerOptions = {}) {
    const { maxTraces, clock, random, ...own } = readTracerOptions(options);
    const subscribers = this.#subscribers;
    const onSpan = (type: "span:start" | "span:end") => (span: SpanImpl) => {
      if (!subscribers.want(type)) return;
      const { traceId } = span;
      subscribers.emit({ type, traceId, span: toSpanData(span, []) });
    };
    this.#store = new TraceStore(maxTraces, own.maxSpansPerTrace);
    settingsOf.set(this, own);
    this.#host = {
      ...own,
      clock,
      originAt: createTimeOrigin(clock),
      ids: random === undefined ? systemIds : createIdGenerator(random),
      locator: undefined,
      startTrace: this.startTrace.bind(this),
      onSpanStart: onSpan("span:start"),
      onSpanEnd: onSpan("span:end"),
      onEvent(span, event) {
        if (!subscribers.want("span:event")) return;
        // Not before: reading an id creates it.
        const { id: spanId, traceId } = span;
        subscribers.emit({ type: "span:event", traceId, spanId, event });
      },
      onTraceEnd: (trace: TraceRecord) => {
        this.#running.delete(trace);
        const { root } = trace;
        const isStored =
          root.endedAt - root.startedAt >= trace.host.minDurationMs;
        if (isStored) {
          this.#store.push(trace);
          if (subscribers.want("trace:end")) {
            subscribers.emit({ type: "trace:end", trace: toTraceData(trace) });
          }
        } else if (subscribers.want("trace:discard")) {
          const { id: rootSpanId, traceId } = root;
          subscribers.emit({ type: "trace:discard", traceId, rootSpanId });
        }
        this.#emitJoined(trace, isStored);
      },
    };
    hostOf.set(this, this.#host);
  }

  /**
   * Starts a trace and returns its root span. The end of that span ends the
   * trace.
   */
  startTrace(
    name: string,
    layer: Layer = "request",
    options?: TraceOptions,
  ): Span {
    if (this.#running.size >= MAX_RUNNING_TRACES) {
      const { root } = this.#running.oldest!;
      if (root.status === "ok") root.status = "timeout";
      root.end();
    }
    const trace = new TraceRecord(this.#host, name, layer, options);
    this.#running.add(trace);
    if (this.#subscribers.want("trace:start")) {
      const span = toSpanData(trace.root, []);
      this.#subscribers.emit({ type: "trace:start", traceId: trace.id, span });
    }
    if (trace.isContinued) {
      this.#store.addSpans(earlierOf.get(this)?.take(trace.id) ?? []);
      this.#store.start(trace);
      this.#emitJoined(trace, false);
    }
    return trace.root;
  }

  /**
   * Opens a span below the active one. Without an active span, it starts a
   * trace.
   */
  startSpan(
    name: string,
    layer: Layer = "custom",
    options?: SpanOptions,
  ): Span {
    const parent = options?.parent ?? this.activeSpan();
    return parent === undefined
      ? this.startTrace(name, layer, options)
      : parent.child(name, layer, options?.attributes);
  }

  /** Returns the active span of the calling code. */
  activeSpan(): Span | undefined {
    return getActiveSpan();
  }

  /** Runs `fn` with a new span as the active one. */
  withSpan<T>(
    name: string,
    layer: Layer,
    fn: (span: Span) => T,
    options?: SpanOptions,
  ): T {
    checkWork(name, fn);
    return runSpan(this.startSpan(name, layer, options), fn);
  }

  /** Returns the stored traces, oldest first, joined by trace id and links. */
  getTraces(): TraceData[] {
    const traces = this.#store.readAll(this.#running);
    return earlierOf.get(this)?.before(traces) ?? traces;
  }

  /** Returns the stored or running trace with an id, or with a linked id. */
  getTrace(id: string): TraceData | undefined {
    return this.#store.read(id, this.#running) ??
      earlierOf.get(this)?.find(id);
  }

  /**
   * Calls `listener` with each event until the returned function is called. The
   * first error of a listener is printed, and others are ignored.
   *
   * @param listener Called with the events.
   * @param types The kinds of events. Default: all.
   */
  subscribe(
    listener: (event: TraceEvent) => void,
    types: readonly TraceEvent["type"][] = ALL_EVENTS,
  ): () => void {
    return this.#subscribers.add(listener, types);
  }

  /** Adds spans of a browser to the trace with an id. */
  mergeClientSpans(traceId: string, spans: readonly ClientSpanData[]): number {
    const added = this.#merge(
      spans.map((span) => toClientSpanData(traceId, span)),
    );
    const ended = added.filter((span) => !isOpenSpan(span));
    if (ended.length > 0 && this.#subscribers.want("span:merge")) {
      this.#subscribers.emit({ type: "span:merge", traceId, spans: ended });
    }
    return added.length;
  }

  /** Adds ended spans of other services to the traces with their ids. */
  mergeSpans(spans: readonly SpanData[]): number {
    return this.#merge(spans).length;
  }

  /** Adds events to spans of other services. */
  mergeEvents(events: readonly RemoteEvent[]): number {
    const count = this.#store.addEvents(events);
    earlierOf.get(this)?.onEvents(events);
    this.#emitUpdates(events.map(({ traceId }) => traceId));
    return count;
  }

  #merge(spans: readonly SpanData[]): SpanData[] {
    this.#store.addSpans(takeEarlier(this, spans));
    const added = this.#store.addSpans(spans);
    earlierOf.get(this)?.onSpans(added);
    this.#emitUpdates(added.map(({ traceId }) => traceId));
    return added;
  }

  /** Emits each changed trace once. */
  #emitUpdates(traceIds: readonly string[]): void {
    if (!this.#subscribers.want("trace:update")) return;
    const firstIds = traceIds.map((id) => this.#store.firstIdOf(id));
    for (const id of new Set(firstIds)) {
      if (id === undefined) continue;
      const isKept = !this.#store.isEmpty(id) ||
        this.getTrace(id) !== undefined;
      if (isKept) this.#subscribers.emit(this.#updateOf(id));
    }
  }

  /** Returns an event that joins the trace when that is read. */
  #updateOf(traceId: string): TraceEvent {
    const read = () => this.getTrace(traceId)!;
    let trace: TraceData | undefined;
    return {
      type: "trace:update",
      traceId,
      get trace() {
        return trace ??= read();
      },
    };
  }

  /** Emits the stored trace that a record is only a part of. */
  #emitJoined(record: TraceRecord, isStored: boolean): void {
    if (
      this.#subscribers.want("trace:update") &&
      this.#store.hasPartsBeside(record, isStored)
    ) this.#emitUpdates([record.id]);
  }
}

/**
 * Creates a tracer. It opens spans and keeps the last traces in memory.
 *
 * @param options Limits, and the clock and randomness for tests.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createTracer } from "@quartet/kit/trace";
 *
 * const tracer = createTracer({ maxTraces: 100 });
 * tracer.withSpan("job", "custom", (span) => {
 *   span.setAttribute("size", 3);
 *   tracer.withSpan("step", "custom", () => {});
 * });
 *
 * const [trace] = tracer.getTraces();
 * console.assert(trace?.spans.size === 2);
 * ```
 */
export function createTracer(options?: TracerOptions): TracerImpl {
  return new TracerImpl(options);
}
