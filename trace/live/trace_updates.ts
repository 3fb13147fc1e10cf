import { runOutside } from "../../core/request_scope.ts";
import { isOpenSpan } from "../export/semantics.ts";
import type { TraceData, Tracer } from "../types.ts";

/** The time between two messages about the same trace, in milliseconds. */
const PAUSE = 150;
/** The time between two looks at running spans, in milliseconds. */
const LOOK = 1_000;

/** The kinds of messages with a trace. */
export type TraceMessage = "trace:end" | "trace:update";

/**
 * Decides when the watchers of a stream get a joined trace: its first change at
 * once, and further ones together. Otherwise, a page with a hundred requests
 * would be sent a hundred times, each time with more spans.
 */
export class TraceUpdates {
  readonly #tracer: Tracer;
  readonly #send: (type: TraceMessage, trace: TraceData) => void;
  /** The traces that were sent during this pause, by each of their ids. */
  #sent = new Map<string, TraceData>();
  /** The ids of traces that have changed since. */
  #changed = new Set<string>();
  /** The last sent state of running spans, by the id of their trace. */
  readonly #running = new Map<string, string>();
  #pause: ReturnType<typeof setTimeout> | undefined;
  #look: ReturnType<typeof setInterval> | undefined;

  /** Creates updates of a tracer's traces, which go to `send`. */
  constructor(
    tracer: Tracer,
    send: (type: TraceMessage, trace: TraceData) => void,
  ) {
    this.#tracer = tracer;
    this.#send = send;
  }

  /** Sends a changed trace now or soon. */
  add(type: TraceMessage, traceId: string): void {
    if (this.#sent.has(traceId)) this.#changed.add(traceId);
    else this.#sendTrace(type, traceId);
  }

  /** Remembers a trace that was sent in another way. */
  note(trace: TraceData): void {
    const running = runningOf(trace);
    if (running === "") {
      this.#running.delete(trace.id);
      return;
    }
    this.#running.set(trace.id, running);
    this.#look ??= runOutside(() => setInterval(this.#lookAtRunning, LOOK));
  }

  /** Stops all timers and forgets what was sent. */
  close(): void {
    clearTimeout(this.#pause);
    clearInterval(this.#look);
    this.#pause = this.#look = undefined;
    this.#sent.clear();
    this.#changed.clear();
    this.#running.clear();
  }

  #sendTrace(type: TraceMessage, traceId: string): void {
    const trace = this.#tracer.getTrace(traceId);
    if (trace === undefined) return;
    for (const span of trace.spans.values()) {
      this.#sent.set(span.traceId, trace);
    }
    this.#pause ??= runOutside(() => setTimeout(() => this.#endPause(), PAUSE));
    this.note(trace);
    this.#send(type, trace);
  }

  #endPause(): void {
    this.#pause = undefined;
    const [changed, before] = [this.#changed, this.#sent];
    this.#changed = new Set();
    this.#sent = new Map();
    for (const id of changed) {
      // The trace may have been sent with a linked one, or as it still is.
      const isSent = this.#sent.has(id) ||
        this.#tracer.getTrace(id) === before.get(id);
      if (!isSent) this.#sendTrace("trace:update", id);
    }
  }

  readonly #lookAtRunning = (): void => {
    // Reading them one by one would look through all running requests for each.
    const traces = new Map(
      this.#tracer.getTraces().map((trace) => [trace.id, trace]),
    );
    for (const [id, sent] of this.#running) {
      const trace = traces.get(id) ?? this.#tracer.getTrace(id);
      if (trace === undefined) this.#running.delete(id);
      else if (runningOf(trace) !== sent) this.add("trace:update", id);
    }
    if (this.#running.size > 0) return;
    clearInterval(this.#look);
    this.#look = undefined;
  };
}

/** Returns what may change in running spans as text. Empty if there are none. */
function runningOf(trace: TraceData): string {
  let text = "";
  for (const span of trace.spans.values()) {
    if (!isOpenSpan(span)) continue;
    text += `${JSON.stringify(span.attributes)} ${span.events.length};`;
  }
  return text;
}
