/**
 * Sends finished traces to an OpenTelemetry collector while the server runs.
 *
 * @module
 */

import { checkValue } from "../../core/check/options.ts";
import { aTracer } from "../record/tracer_options.ts";
import { serializeTrace } from "../serialize.ts";
import type { TraceData, TraceEvent, Tracer } from "../types.ts";
import {
  type ExporterSettings,
  type OTLPDeadline,
  type OTLPExporterOptions,
  readExporterOptions,
} from "./exporter_options.ts";
import {
  ExportCounts,
  type OTLPExporterStats,
  type Outcome,
} from "./export_counts.ts";
import { Sender } from "./otlp_sender.ts";
import { keyOf, traceOfSpans } from "./trace_assembler.ts";

/** Sends the traces of tracers to a collector. */
export interface OTLPExporter extends AsyncDisposable {
  /** The numbers of traces so far. */
  readonly stats: OTLPExporterStats;
  /**
   * Exports the requests and jobs of a tracer when they end, and the spans of
   * browsers when they arrive, until the returned function is called. Each span
   * is exported once, as it was recorded. Spans of other services aren't
   * exported.
   *
   * @throws {TypeError} If the exporter is closed, or the argument has no
   * `subscribe` method.
   */
  attach(tracer: Pick<Tracer, "subscribe">): () => void;
  /**
   * Sends the waiting traces now, or reports that nothing was attached. It cuts
   * its own retry delays short, but not those that the collector asked for.
   *
   * @returns Whether all traces were sent before the deadline.
   */
  flush(deadline?: OTLPDeadline): Promise<boolean>;
  /** Detaches from all tracers, flushes, and drops the rest. */
  close(deadline?: OTLPDeadline): Promise<void>;
}

/**
 * Creates an exporter that sends traces to an OpenTelemetry collector, or to
 * any other receiver of OTLP over HTTP with JSON, such as Jaeger or Tempo.
 *
 * Requests never wait for it. Finished traces go into a bounded queue, and are
 * sent in batches. Traces that don't fit are dropped and counted. If the
 * collector is busy or away (429, 502, 503, 504, or no connection), a batch is
 * sent up to six times. The delays follow `Retry-After`, or double from one
 * second on. Other batches continue.
 *
 * @param options Where and how to send.
 * @returns The exporter. Close it before the process ends.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createOTLPExporter, createTracer } from "@quartet/kit/trace";
 *
 * const exporter = createOTLPExporter({
 *   url: "http://localhost:4318",
 *   serviceName: "atlas",
 * });
 * exporter.attach(createTracer());
 * console.assert(exporter.stats.queued === 0);
 * await exporter.close();
 * ```
 */
export function createOTLPExporter(
  options: OTLPExporterOptions,
): OTLPExporter {
  return new BatchExporter(readExporterOptions(options));
}

type MergeEvent = Extract<TraceEvent, { type: "span:merge" }>;

/** The default deadline of `flush` and `close`, in milliseconds. */
const DEADLINE = 5000;
const UNATTACHED = "nothing is attached; call exporter.attach(tracer)";

/**
 * Batches traces and sends several batches at a time.
 *
 * ```text
 *  trace:end → queue ─ timer, or maxSize reached, or flush ─→ slot → batch → send
 *                ↑ full: dropped                                ↑               │
 *                                                               └── wait ← retry
 * ```
 *
 * A batch holds a slot while it is encoded and sent, so that at most
 * `maxInFlight` requests run. While it waits for a retry, others use its slot.
 * It still counts as queued, which bounds memory.
 */
class BatchExporter implements OTLPExporter {
  readonly #settings: ExporterSettings;
  /** Waiting traces, oldest first, by trace and root: ids alone may repeat. */
  readonly #queue = new Map<string, TraceData>();
  readonly #detachers = new Set<() => void>();
  readonly #sender: Sender;
  #closing: Promise<void> | undefined;
  #wasAttached = false;
  readonly #counts = new ExportCounts();
  /** The traces of all batches that aren't done. */
  #inFlight = 0;
  /** The spans of all traces that are waiting or in flight. */
  #spans = 0;
  /** The number of `flush` calls that are waiting. */
  #flushing = 0;
  #running: Promise<void> | undefined;
  readonly #exports = new Set<Promise<void>>();
  /** Cancels the next run. */
  #cancelTimer: (() => void) | undefined;

  constructor(settings: ExporterSettings) {
    this.#settings = settings;
    this.#sender = new Sender(settings.sender);
  }

  get stats(): OTLPExporterStats {
    return this.#counts.read(this.#queued, this.#sender.rejectedSpans);
  }

  get #queued(): number {
    return this.#queue.size + this.#inFlight;
  }

  attach(tracer: Pick<Tracer, "subscribe">): () => void {
    if (this.#closing !== undefined) {
      throw new TypeError(
        "Cannot attach a tracer: the exporter must be open, received a call after close()",
      );
    }
    checkValue(tracer, "it", aTracer("subscribe"), "attach a tracer");
    const unsubscribe = tracer.subscribe((event) => {
      if (event.type === "trace:end") this.#add(event.trace);
      else if (event.type === "span:merge") this.#addSpans(event);
    }, ["trace:end", "span:merge"]);
    const detach = () => {
      this.#detachers.delete(detach);
      unsubscribe();
    };
    this.#detachers.add(detach);
    this.#wasAttached = true;
    return detach;
  }

  async flush({ timeoutMs = DEADLINE }: OTLPDeadline = {}): Promise<boolean> {
    if (!this.#wasAttached) this.#sender.report("attachment", UNATTACHED);
    const { promise: deadline, resolve } = Promise.withResolvers<void>();
    let isOver = false;
    const cancel = this.#settings.timers.after(timeoutMs, () => {
      isOver = true;
      resolve();
    });
    this.#flushing++;
    this.#sender.hurry();
    while (this.#queued > 0 && !isOver) {
      if (this.#queue.size > 0) this.#start();
      await Promise.race([this.#settled(), deadline]);
    }
    this.#flushing--;
    cancel();
    return this.#queued === 0;
  }

  close(deadline?: OTLPDeadline): Promise<void> {
    return this.#closing ??= this.#close(deadline);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(deadline: OTLPDeadline | undefined): Promise<void> {
    for (const detach of this.#detachers) detach();
    await this.flush(deadline);
    this.#sender.close();
    await this.#settled();
    this.#clearTimer();
    this.#counts.add("closed", this.#queue.size);
    this.#queue.clear();
  }

  /** Waits for the batches that are being sent. */
  async #settled(): Promise<void> {
    await Promise.all([this.#running, ...this.#exports]);
  }

  #add(trace: TraceData): void {
    const { maxQueue, maxQueueSpans } = this.#settings;
    const queued = this.#queued;
    const hasRoom = queued === 0 ||
      queued < maxQueue && this.#spans + trace.spans.size <= maxQueueSpans;
    if (!hasRoom) {
      this.#counts.add("queueFull", 1);
      this.#sender.report(
        "queue",
        "more traces end than the collector accepts; some are dropped",
      );
      return;
    }
    this.#queue.set(keyOf(trace), trace);
    this.#spans += trace.spans.size;
    this.#schedule();
  }

  /** Adds spans of a browser to a waiting trace, or as a trace of their own. */
  #addSpans({ traceId, spans }: MergeEvent): void {
    const added = traceOfSpans(traceId, spans);
    const found = this.#queue.values().find(({ id }) => id === traceId);
    const isFull = this.#spans + spans.length > this.#settings.maxQueueSpans;
    // Without room, they are dropped and counted.
    if (found === undefined || isFull) return this.#add(added);
    const all = new Map([...found.spans, ...added.spans]);
    this.#spans += spans.length;
    this.#queue.set(keyOf(found), { ...found, spans: all });
  }

  /** Sends later, never now: the caller is a request that is about to end. */
  #schedule(): void {
    const { timers, maxSize, maxDelayMs } = this.#settings;
    const size = this.#queue.size;
    if (size === 0 || this.#running !== undefined) return;
    // Until a batch is full, the first timer counts. A full one can't wait.
    if (this.#cancelTimer !== undefined && size !== maxSize) return;
    this.#cancelTimer?.();
    const delay = size < maxSize ? maxDelayMs : 0;
    this.#cancelTimer = timers.after(delay, () => this.#start());
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Sends batches until the next can wait. One run at a time. */
  #start(): void {
    this.#clearTimer();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (!this.#sender.isClosed) this.#schedule();
    });
  }

  async #run(): Promise<void> {
    const { maxSize } = this.#settings;
    const { slots } = this.#sender;
    do {
      await slots.acquire();
      const sending = this.#exportNext().finally(() => {
        slots.release();
        this.#exports.delete(sending);
      });
      this.#exports.add(sending);
      if (this.#queue.size === 0) this.#sender.recovered("queue");
    } while (
      !this.#sender.isClosed &&
      this.#queue.size >= (this.#flushing > 0 ? 1 : maxSize)
    );
  }

  async #exportNext(): Promise<void> {
    if (this.#sender.isClosed) return;
    const batch = [...this.#queue.entries().take(this.#settings.maxSize)];
    for (const [key] of batch) this.#queue.delete(key);
    const traces = batch.map(([, trace]) => serializeTrace(trace));
    this.#inFlight += traces.length;
    const done = (outcome: Outcome, count: number) => {
      this.#inFlight -= count;
      this.#counts.add(outcome, count);
    };
    const { encodeBatches } = await import("./otlp_batches.ts");
    const bodies = encodeBatches(traces, this.#settings.format, (error) => {
      this.#sender.report("collector", String(error));
      done("invalid", 1);
    });
    for await (const { body, count } of bodies) {
      done(await this.#sender.deliver(body), count);
    }
    for (const { spans } of traces) this.#spans -= spans.length;
  }
}
