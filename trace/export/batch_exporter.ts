import { serializeTrace } from "../serialize.ts";
import type { SerializedTrace, TraceData, Tracer } from "../types.ts";
import type { ExporterSettings } from "./exporter_settings.ts";
import type {
  OTLPDeadline,
  OTLPExporter,
  OTLPExporterStats,
} from "./exporter_types.ts";
import { encodeBatches, send, type SendResult } from "./otlp_sender.ts";
import { backoff, MAX_ATTEMPTS } from "./retry.ts";

/** How long a collector may take to answer, in milliseconds. */
const REQUEST_TIMEOUT = 10_000;

/** How long `flush` and `close` may take unless told, in milliseconds. */
const DEADLINE = 5000;

/** What can go wrong for a while, and is reported once until it ends. */
type Trouble = "collector" | "queue";

/**
 * The exporter behind `createOTLPExporter`.
 *
 * ```text
 *  trace:end → queue ─ timer, or maxTraces reached, or flush ─→ batch → send
 *                ↑ full: dropped                                  ↺ retry
 * ```
 *
 * One batch is on its way at a time, so that a collector in trouble isn't met
 * with more at once. While it is, the queue fills up.
 */
export class BatchExporter implements OTLPExporter {
  readonly #settings: ExporterSettings;
  /** What waits, oldest first, by trace and root: ids alone may repeat. */
  readonly #queue = new Map<string, TraceData>();
  readonly #detachers = new Set<() => void>();
  readonly #troubles = new Set<Trouble>();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;
  #exported = 0;
  #dropped = 0;
  #failed = 0;
  #inFlight = 0;
  /** How many calls of `flush` are waiting. */
  #flushing = 0;
  #running: Promise<void> | undefined;
  /** Calls off the next run. */
  #cancelTimer: (() => void) | undefined;
  #timerIsUrgent = false;
  /** Ends the wait before the next attempt, if that is allowed. */
  #wake: ((isClosing: boolean) => void) | undefined;

  constructor(settings: ExporterSettings) {
    this.#settings = settings;
  }

  get stats(): OTLPExporterStats {
    return {
      exported: this.#exported,
      dropped: this.#dropped,
      failed: this.#failed,
      queued: this.#queue.size + this.#inFlight,
    };
  }

  attach(tracer: Pick<Tracer, "subscribe">): () => void {
    if (this.#closing !== undefined) {
      throw new TypeError(
        "Cannot attach a tracer: the exporter must be open, " +
          "received a call after close()",
      );
    }
    const unsubscribe = tracer.subscribe((event) => {
      if (event.type === "trace:end") this.#add(event.trace);
      else if (event.type === "trace:update") this.#update(event.trace);
    }, ["trace:end", "trace:update"]);
    const detach = () => {
      this.#detachers.delete(detach);
      unsubscribe();
    };
    this.#detachers.add(detach);
    return detach;
  }

  async flush({ timeout = DEADLINE }: OTLPDeadline = {}): Promise<boolean> {
    const { timers } = this.#settings;
    const { promise: deadline, resolve } = Promise.withResolvers<void>();
    let isOver = false;
    const cancel = timers.after(timeout, () => {
      isOver = true;
      resolve();
    });
    this.#flushing++;
    this.#wake?.(false);
    while (this.stats.queued > 0 && !isOver) {
      await Promise.race([this.#start(), deadline]);
    }
    this.#flushing--;
    cancel();
    return this.stats.queued === 0;
  }

  close(deadline?: OTLPDeadline): Promise<void> {
    this.#closing ??= this.#close(deadline);
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(deadline: OTLPDeadline | undefined): Promise<void> {
    for (const detach of this.#detachers) detach();
    await this.flush(deadline);
    this.#closed.abort();
    this.#wake?.(true);
    await this.#running;
    this.#clearTimer();
    this.#dropped += this.#queue.size;
    this.#queue.clear();
  }

  #add(trace: TraceData): void {
    if (this.stats.queued >= this.#settings.maxQueue) {
      this.#dropped++;
      this.#report("queue", "more traces end than are taken; some are dropped");
      return;
    }
    this.#queue.set(keyOf(trace), trace);
    this.#schedule();
  }

  #update(trace: TraceData): void {
    const key = keyOf(trace);
    if (this.#queue.has(key)) this.#queue.set(key, trace);
  }

  /** Sends later, never now: the caller is a request that is about to end. */
  #schedule(): void {
    const { timers, maxTraces, maxDelay } = this.#settings;
    const size = this.#queue.size;
    if (size === 0 || this.#running !== undefined) return;
    const isUrgent = size >= maxTraces;
    if (this.#cancelTimer !== undefined) {
      if (!isUrgent || this.#timerIsUrgent) return;
      this.#cancelTimer();
    }
    this.#timerIsUrgent = isUrgent;
    this.#cancelTimer = timers.after(
      isUrgent ? 0 : maxDelay,
      () => void this.#start(),
    );
  }

  #clearTimer(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  /** Sends batches until the next can wait. One run at a time. */
  #start(): Promise<void> {
    this.#clearTimer();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
      if (!this.#closed.signal.aborted) this.#schedule();
    });
    return this.#running;
  }

  async #run(): Promise<void> {
    const { maxTraces } = this.#settings;
    do {
      const batch = [...this.#queue.entries().take(maxTraces)];
      for (const [key] of batch) this.#queue.delete(key);
      this.#inFlight = batch.length;
      await this.#export(batch.map(([, trace]) => serializeTrace(trace)));
      if (this.#queue.size === 0) this.#troubles.delete("queue");
    } while (
      !this.#closed.signal.aborted &&
      this.#queue.size >= (this.#flushing > 0 ? 1 : maxTraces)
    );
  }

  async #export(traces: readonly SerializedTrace[]): Promise<void> {
    try {
      for await (
        const { body, count } of encodeBatches(traces, this.#settings.sender)
      ) {
        const outcome = await this.#deliver(body);
        this.#inFlight -= count;
        if (outcome === "exported") this.#exported += count;
        else if (outcome === "failed") this.#failed += count;
        else this.#dropped += count;
      }
    } catch (error) {
      // The traces of somebody else's tracer may have ids that aren't any.
      this.#report("collector", String(error));
      this.#failed += this.#inFlight;
      this.#inFlight = 0;
    }
  }

  /** Sends a body until it is taken, refused, or not worth another attempt. */
  async #deliver(
    body: Uint8Array<ArrayBuffer>,
  ): Promise<"exported" | "failed" | "dropped"> {
    const { timers } = this.#settings;
    const { signal } = this.#closed;
    for (let attempt = 1; !signal.aborted; attempt++) {
      const result = await this.#attempt(body);
      if (result.type === "sent") {
        if (result.problem === undefined) this.#troubles.delete("collector");
        else this.#report("collector", result.problem);
        return "exported";
      }
      if (signal.aborted) break;
      this.#report("collector", result.problem);
      if (result.type === "failed" || attempt === MAX_ATTEMPTS) return "failed";
      await this.#wait(
        result.after ?? backoff(attempt, timers.random()),
        result.after === undefined,
      );
    }
    return "dropped";
  }

  async #attempt(body: Uint8Array<ArrayBuffer>): Promise<SendResult> {
    const { timers, sender } = this.#settings;
    const late = new AbortController();
    const cancel = timers.after(REQUEST_TIMEOUT, () => late.abort());
    const signal = AbortSignal.any([late.signal, this.#closed.signal]);
    const result = await send(body, signal, sender);
    cancel();
    return result;
  }

  async #wait(delay: number, isOurChoice: boolean): Promise<void> {
    const { timers } = this.#settings;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = timers.after(delay, resolve);
    this.#wake = (isClosing) => {
      if (isClosing || isOurChoice) resolve();
    };
    await promise;
    this.#wake = undefined;
    cancel();
  }

  #report(trouble: Trouble, problem: string): void {
    if (this.#troubles.has(trouble)) return;
    this.#troubles.add(trouble);
    const { sender, onError } = this.#settings;
    // Only the origin: a path or a query may hold a key.
    const where = sender.url.origin;
    try {
      onError(new Error(`Cannot export traces to ${where}: ${problem}`));
    } catch {
      // A reporter that fails must not stop the traces.
    }
  }
}

function keyOf(trace: TraceData): string {
  return `${trace.id} ${trace.rootSpanId}`;
}
