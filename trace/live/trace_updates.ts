import { runOutside } from "../../core/request_scope.ts";
import { isOpenSpan } from "../export/semantics.ts";
import type { TraceData, Tracer } from "../types.ts";

/** The time between two messages about the same trace, in milliseconds. */
const PAUSE = 150;
/** The time between two looks at running spans, in milliseconds. */
const LOOK = 1_000;

/** The kinds of messages with a trace. */
export type TraceMessage = "trace:end" | "trace:update";

/** Decides when the watchers of a stream get a trace. */
export type TraceUpdates = ReturnType<typeof createTraceUpdates>;

/**
 * Creates what decides when the watchers of a stream get a joined trace: its
 * first change at once, and further ones together. Otherwise, a page with a
 * hundred requests would be sent a hundred times, each time with more spans.
 */
export function createTraceUpdates(
  tracer: Tracer,
  send: (type: TraceMessage, trace: TraceData) => void,
) {
  /** The traces that were sent during this pause, by each of their ids. */
  let sent = new Map<string, TraceData>();
  /** The ids of traces that have changed since. */
  let changed = new Set<string>();
  /** The last sent state of running spans, by the id of their trace. */
  const running = new Map<string, string>();
  let pause: ReturnType<typeof setTimeout> | undefined;
  let look: ReturnType<typeof setInterval> | undefined;

  /** Sends a changed trace now or soon. */
  function add(type: TraceMessage, traceId: string): void {
    if (sent.has(traceId)) changed.add(traceId);
    else sendTrace(type, traceId);
  }

  /** Remembers a trace that was sent in another way. */
  function note(trace: TraceData): void {
    const state = runningOf(trace);
    if (state === "") {
      running.delete(trace.id);
      return;
    }
    running.set(trace.id, state);
    look ??= runOutside(() => setInterval(lookAtRunning, LOOK));
  }

  /** Stops all timers and forgets what was sent. */
  function close(): void {
    clearTimeout(pause);
    clearInterval(look);
    pause = look = undefined;
    sent.clear();
    changed.clear();
    running.clear();
  }

  function sendTrace(type: TraceMessage, traceId: string): void {
    const trace = tracer.getTrace(traceId);
    if (trace === undefined) return;
    for (const span of trace.spans.values()) {
      sent.set(span.traceId, trace);
    }
    pause ??= runOutside(() => setTimeout(endPause, PAUSE));
    note(trace);
    send(type, trace);
  }

  function endPause(): void {
    pause = undefined;
    const [due, before] = [changed, sent];
    changed = new Set();
    sent = new Map();
    for (const id of due) {
      // The trace may have been sent with a linked one, or as it still is.
      const isSent = sent.has(id) ||
        tracer.getTrace(id) === before.get(id);
      if (!isSent) sendTrace("trace:update", id);
    }
  }

  function lookAtRunning(): void {
    // Reading them one by one would look through all running requests for each.
    const traces = new Map(
      tracer.getTraces().map((trace) => [trace.id, trace]),
    );
    for (const [id, state] of running) {
      const trace = traces.get(id) ?? tracer.getTrace(id);
      if (trace === undefined) running.delete(id);
      else if (runningOf(trace) !== state) add("trace:update", id);
    }
    if (running.size > 0) return;
    clearInterval(look);
    look = undefined;
  }

  return { add, note, close };
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
