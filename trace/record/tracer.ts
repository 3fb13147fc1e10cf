import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import {
  aDuration,
  aFunction,
  aPositiveInteger,
  oneOf,
  rule,
  withMethods,
} from "../../core/check/rules.ts";
import { LRUList } from "../../core/collections/lru_list.ts";
import { runSpan } from "../../core/observe.ts";
import { LAYERS } from "../layers.ts";
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
import { type Clock, systemClock, TimeOrigin } from "./clock.ts";
import { getActiveSpan } from "./context.ts";
import { createIdGenerator, type RandomSource, systemIds } from "./ids.ts";
import { MAX_RUNNING_TRACES } from "./limits.ts";
import { RingBuffer } from "./ring_buffer.ts";
import type { SpanImpl } from "./span.ts";
import { Subscribers } from "./subscribers.ts";
import { toSpanData, toTraceData } from "./trace_data.ts";
import type { TraceHost } from "./host.ts";
import { settingsOf, type TraceSettings } from "./trace_settings.ts";
import { TraceRecord } from "./trace_record.ts";

/** Options of a tracer. */
export interface TracerOptions {
  /** Maximum stored traces. The oldest one is dropped first. Default: 200. */
  readonly maxTraces?: number;
  /** Maximum spans of a trace. Further ones are counted. Default: 500. */
  readonly maxSpansPerTrace?: number;
  /** The layers whose spans are recorded. Default: all. */
  readonly layers?: readonly Layer[];
  /** Minimum duration of stored traces, in milliseconds. Default: 0. */
  readonly minDurationMs?: number;
  /** The clocks. Default: the system's. */
  readonly clock?: Clock;
  /** The source of random bytes. Default: `crypto.getRandomValues`. */
  readonly random?: RandomSource;
}

const OPTIONS: OptionRules<TracerOptions> = {
  maxTraces: aPositiveInteger,
  maxSpansPerTrace: aPositiveInteger,
  layers: rule("an array of layers", Array.isArray),
  minDurationMs: aDuration("milliseconds", { zero: true, endless: true }),
  clock: withMethods(
    "an object with monotonic() and wall()",
    "monotonic",
    "wall",
  ),
  random: aFunction,
};

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
  readonly #origin: TimeOrigin;
  readonly #stored: RingBuffer<TraceRecord>;
  /**
   * The running traces. A `Set` would hash each trace, which costs as much as a
   * span.
   */
  readonly #running = new LRUList<TraceRecord>();
  #runningCount = 0;
  readonly #subscribers = new Subscribers();

  /**
   * Creates a tracer.
   *
   * @throws {TypeError} If an option is wrong or unknown.
   */
  constructor(options: TracerOptions = {}) {
    checkOptions(options, OPTIONS, "create tracer");
    const {
      maxTraces = 200,
      maxSpansPerTrace = 500,
      layers,
      minDurationMs = 0,
      clock = systemClock,
      random,
    } = options;
    for (const layer of layers ?? []) {
      checkValue(layer, "layers", oneOf(...LAYERS), "create tracer");
    }
    const subscribers = this.#subscribers;
    const onSpan = (type: "span:start" | "span:end") => (span: SpanImpl) => {
      if (!subscribers.want(type)) return;
      const { traceId } = span;
      subscribers.emit({ type, traceId, span: toSpanData(span, []) });
    };
    this.#stored = new RingBuffer(maxTraces);
    this.#origin = new TimeOrigin(clock);
    const own: TraceSettings = {
      maxSpansPerTrace,
      minDurationMs,
      records: layers === undefined
        ? () => true
        : (layer) => layers.includes(layer),
    };
    settingsOf.set(this, own);
    this.#host = {
      ...own,
      clock,
      ids: random === undefined ? systemIds : createIdGenerator(random),
      startTrace: (name, layer, options) =>
        this.startTrace(name, layer, options),
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
        this.#runningCount--;
        const { root } = trace;
        if (root.endedAt - root.startedAt >= trace.host.minDurationMs) {
          this.#stored.push(trace);
          this.#emitTrace("trace:end", trace);
        } else if (subscribers.want("trace:discard")) {
          const { id: rootSpanId, traceId } = root;
          subscribers.emit({ type: "trace:discard", traceId, rootSpanId });
        }
      },
    };
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
    if (this.#runningCount >= MAX_RUNNING_TRACES) {
      const { root } = this.#running.oldest!;
      if (root.status === "ok") root.status = "timeout";
      root.end();
    }
    const startedAt = this.#host.clock.monotonic();
    const trace = new TraceRecord(
      this.#host,
      name,
      layer,
      startedAt,
      this.#origin.current(startedAt),
      options,
    );
    this.#running.add(trace);
    this.#runningCount++;
    if (this.#subscribers.want("trace:start")) {
      const span = toSpanData(trace.root, []);
      this.#subscribers.emit({ type: "trace:start", traceId: trace.id, span });
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
    return runSpan(this.startSpan(name, layer, options), fn);
  }

  /** Returns the stored traces, oldest first. */
  getTraces(): TraceData[] {
    return Array.from(this.#stored, toTraceData);
  }

  /**
   * Returns the stored or running trace with an id, or the newest of several.
   */
  getTrace(id: string): TraceData | undefined {
    const trace = this.#find(id);
    return trace && toTraceData(trace);
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
    const trace = this.#find(
      traceId,
      (trace) => spans.some((span) => span.id === trace.remoteParentId),
    );
    if (trace === undefined) return 0;
    const count = trace.addClientSpans(spans);
    if (count > 0 && !trace.isRunning) this.#emitTrace("trace:update", trace);
    return count;
  }

  /** Adds ended spans of other services to the traces with their ids. */
  mergeSpans(spans: readonly SpanData[]): number {
    let added = 0;
    for (const [id, group] of Map.groupBy(spans, (span) => span.traceId)) {
      added += this.#find(id)?.addClientSpans(group) ?? 0;
    }
    return added;
  }

  /** Adds events to spans of other services. */
  mergeEvents(events: readonly RemoteEvent[]): number {
    return events.length * 0;
  }

  /**
   * Returns the newest trace with an id, or the newest preferred one. Traces
   * share an id when a caller sends one `traceparent` with several requests.
   */
  #find(
    id: string,
    prefer?: (trace: TraceRecord) => boolean,
  ): TraceRecord | undefined {
    const all = [...this.#stored];
    for (let t = this.#running.oldest; t !== undefined; t = t.newer) {
      all.push(t);
    }
    const found = all.filter((trace) => trace.id === id);
    return (prefer && found.findLast(prefer)) ?? found.at(-1);
  }

  #emitTrace(type: "trace:end" | "trace:update", trace: TraceRecord): void {
    if (!this.#subscribers.want(type)) return;
    this.#subscribers.emit({ type, trace: toTraceData(trace) });
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
