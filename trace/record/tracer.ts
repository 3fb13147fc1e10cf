import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { runSpan } from "../../core/observe.ts";
import {
  checkCount,
  checkDuration,
  checkFunction,
  checkMethods,
  refuseOption,
} from "./check.ts";
import { type Clock, systemClock, TimeOrigin } from "./clock.ts";
import { getActiveSpan } from "./context.ts";
import { isLayer, LAYERS } from "../export/layers.ts";
import { createIdGenerator, type RandomSource, systemIds } from "./ids.ts";
import { MAX_RUNNING_TRACES } from "./limits.ts";
import { RingBuffer } from "./ring_buffer.ts";
import { RunningTraces } from "./running_traces.ts";
import type { SpanImpl } from "./span.ts";
import { Subscribers } from "./subscribers.ts";
import { toSpanData } from "./trace_data.ts";
import { type TraceHost, TraceRecord } from "./trace_record.ts";
import type {
  ClientSpanData,
  Layer,
  Span,
  SpanEvent,
  SpanOptions,
  TraceData,
  TraceEvent,
  TraceOptions,
  Tracer,
} from "../types.ts";

/** Settings of a tracer. */
export interface TracerOptions {
  /** How many traces are kept; the oldest one gives way. Default 200. */
  readonly maxTraces?: number;
  /** How many spans a trace may hold; more are counted. Default 500. */
  readonly maxSpansPerTrace?: number;
  /** The layers whose spans are recorded. Default: all of them. */
  readonly layers?: readonly Layer[];
  /** Traces shorter than this are not kept, in milliseconds. Default 0. */
  readonly minDuration?: number;
  /** Where the time is read. Default: the machine's clocks. */
  readonly clock?: Clock;
  /** Where randomness comes from. Default: `crypto.getRandomValues`. */
  readonly random?: RandomSource;
}

const OPTIONS: OptionRules<TracerOptions> = {
  maxTraces: true,
  maxSpansPerTrace: true,
  layers: true,
  minDuration: true,
  clock: true,
  random: true,
};

const CREATE = "create tracer";

const ALL_EVENTS: readonly TraceEvent["type"][] = [
  "trace:start",
  "trace:end",
  "trace:discard",
  "trace:update",
  "span:start",
  "span:end",
  "span:event",
];

/** The tracer that {@linkcode createTracer} makes. */
export class TracerImpl implements Tracer {
  readonly #host: TraceHost;
  readonly #origin: TimeOrigin;
  readonly #stored: RingBuffer<TraceRecord>;
  readonly #running = new RunningTraces();
  readonly #subscribers = new Subscribers();

  /**
   * Makes a tracer.
   *
   * @throws {TypeError} If an option is out of its range.
   */
  constructor(options: TracerOptions = {}) {
    checkOptions(options, OPTIONS, CREATE);
    const {
      maxTraces = 200,
      maxSpansPerTrace = 500,
      layers,
      minDuration = 0,
      clock = systemClock,
      random,
    } = options;
    checkCount(CREATE, "maxTraces", maxTraces);
    checkCount(CREATE, "maxSpansPerTrace", maxSpansPerTrace);
    checkLayers(layers);
    checkDuration(CREATE, "minDuration", minDuration);
    checkMethods(CREATE, "clock", clock, ["monotonic", "wall"]);
    checkFunction(CREATE, "random", random);
    const ids = random === undefined ? systemIds : createIdGenerator(random);
    const subscribers = this.#subscribers;
    this.#stored = new RingBuffer(maxTraces);
    this.#origin = new TimeOrigin(clock);
    this.#host = {
      clock,
      ids,
      maxSpansPerTrace,
      records: layers === undefined
        ? () => true
        : (layer) => layers.includes(layer),
      startTrace: (name, layer, options) =>
        this.startTrace(name, layer, options),
      onSpanStart(span) {
        if (subscribers.want("span:start")) emitSpan("span:start", span);
      },
      onSpanEnd(span) {
        if (subscribers.want("span:end")) emitSpan("span:end", span);
      },
      onEvent(span, event) {
        if (subscribers.want("span:event")) emitEvent(span, event);
      },
      onTraceEnd: (trace) => {
        this.#running.remove(trace);
        if (trace.root.endedAt - trace.root.startedAt < minDuration) {
          emitDiscard(trace);
        } else {
          this.#stored.push(trace);
          this.#emitTrace("trace:end", trace);
        }
      },
    };

    function emitDiscard(trace: TraceRecord): void {
      if (!subscribers.want("trace:discard")) return;
      const { id: traceId, root: { id: rootSpanId } } = trace;
      subscribers.emit({ type: "trace:discard", traceId, rootSpanId });
    }

    function emitSpan(type: "span:start" | "span:end", span: SpanImpl): void {
      const { traceId } = span;
      subscribers.emit({ type, traceId, span: toSpanData(span, []) });
    }

    function emitEvent(span: SpanImpl, event: SpanEvent): void {
      const { id: spanId, traceId } = span;
      subscribers.emit({ type: "span:event", traceId, spanId, event });
    }
  }

  /** Begins a trace and gives its root span; ending that ends the trace. */
  startTrace(
    name: string,
    layer: Layer = "request",
    options?: TraceOptions,
  ): Span {
    if (this.#running.size >= MAX_RUNNING_TRACES) this.#endOldest();
    const startedAt = this.#host.clock.monotonic();
    const origin = this.#origin.current(startedAt);
    const trace = new TraceRecord(
      this.#host,
      name,
      layer,
      startedAt,
      origin,
      options,
    );
    this.#running.add(trace);
    if (this.#subscribers.want("trace:start")) {
      const span = toSpanData(trace.root, []);
      const { id: traceId } = trace;
      this.#subscribers.emit({ type: "trace:start", traceId, span });
    }
    return trace.root;
  }

  #endOldest(): void {
    const { root } = this.#running.oldest!;
    if (root.status === "ok") root.status = "timeout";
    root.end();
  }

  /** Opens a span below the active one, or a trace of its own without one. */
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

  /** The span that is active in the code that asks. */
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

  /** The stored traces, oldest first. */
  getTraces(): TraceData[] {
    return Array.from(this.#stored, (trace) => trace.toData());
  }

  /** The stored or running trace with an id; the newest if several share it. */
  getTrace(id: string): TraceData | undefined {
    return this.#find(id)?.toData();
  }

  /**
   * Calls `listener` with each event until the returned function is called.
   * What it throws is printed once and disturbs nobody.
   *
   * @param listener Gets the events.
   * @param types The kinds of events it wants. Default: all of them.
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

  /**
   * The newest trace with an id, a preferred one if there is any. Traces share
   * an id when a caller sends one `traceparent` with several requests.
   */
  #find(
    id: string,
    prefer?: (trace: TraceRecord) => boolean,
  ): TraceRecord | undefined {
    const found = [...this.#stored, ...this.#running]
      .filter((trace) => trace.id === id);
    return (prefer && found.findLast(prefer)) ?? found.at(-1);
  }

  #emitTrace(type: "trace:end" | "trace:update", trace: TraceRecord): void {
    if (!this.#subscribers.want(type)) return;
    this.#subscribers.emit({ type, trace: trace.toData() });
  }
}

/**
 * Makes a tracer: it opens spans and keeps the last traces in memory.
 *
 * @param options Its limits, and the clock and randomness of tests.
 * @throws {TypeError} If an option is out of its range.
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

function checkLayers(layers: unknown): void {
  if (layers === undefined) return;
  if (!Array.isArray(layers)) {
    refuseOption(CREATE, "layers must be an array", layers);
  }
  for (const layer of layers) {
    if (isLayer(layer)) continue;
    const names = LAYERS.join(", ");
    refuseOption(CREATE, `layers must be among ${names}`, layer);
  }
}
