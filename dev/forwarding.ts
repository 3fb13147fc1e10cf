/**
 * Sends the traces of this process to the viewer of another one, for `--to`.
 *
 * @module
 */

import { basename, dirname, resolve } from "node:path";
import { redactMessage } from "../core/redact/redact_message.ts";
import { createOTLPExporter } from "../trace/export/otlp_exporter.ts";
import { ORIGIN_ATTRIBUTE } from "../trace/export/semantics.ts";
import { generateSpanId } from "../trace/record/ids.ts";
import { TracerImpl } from "../trace/record/tracer.ts";
import type { ClientSpanData, TraceData, TraceEvent } from "../trace/types.ts";

/** How long traces wait for others, in milliseconds. */
const DELAY = 100;

/** How long the end of the process waits for the last ones, in milliseconds. */
const CLOSE_TIMEOUT = 200;

/** A tracer whose traces go to another process. */
export interface Forwarding {
  /** Keeps the traces, and sends them. */
  readonly tracer: TracerImpl;
  /** Sends the last traces. */
  stop(): Promise<void>;
}

/**
 * Creates a tracer whose traces go to another process.
 *
 * @param to The address of the other process.
 * @param entry The file of this process's app, which names the service.
 */
export function forwardTraces(to: URL, entry: string): Forwarding {
  const tracer = new ForwardingTracer();
  const exporter = createOTLPExporter({
    url: new URL("/__app/traces/otlp/v1/traces", to).href,
    serviceName: serviceNameOf(entry),
    batch: { maxDelayMs: DELAY },
    onError: ({ message }) =>
      console.warn(
        `${redactMessage(message)}. Is dev --trace running there?`,
      ),
  });
  exporter.attach({
    subscribe(listener: (event: TraceEvent) => void) {
      tracer.onPageSpans = (trace) => listener({ type: "trace:end", trace });
      // No updates: a joined trace has received spans as well.
      return tracer.subscribe(listener, ["trace:end"]);
    },
  });
  return {
    tracer,
    stop: () => exporter.close({ timeoutMs: CLOSE_TIMEOUT }),
  };
}

/**
 * A tracer that reports the spans of its own pages. It doesn't report received
 * spans of other services: their processes send these themselves.
 */
class ForwardingTracer extends TracerImpl {
  /** Called with spans that a page has posted. */
  onPageSpans: (trace: TraceData) => void = () => {};

  override mergeClientSpans(
    traceId: string,
    spans: readonly ClientSpanData[],
  ): number {
    const added = super.mergeClientSpans(traceId, spans);
    if (added > 0) this.onPageSpans(pageTrace(traceId, spans));
    return added;
  }
}

/** Returns posted spans as a trace of their own, which the receiver joins. */
function pageTrace(
  traceId: string,
  posted: readonly ClientSpanData[],
): TraceData {
  const spans = posted.map((span) => ({
    ...span,
    traceId,
    duration: span.endTime - span.startTime,
    attributes: { ...span.attributes, [ORIGIN_ATTRIBUTE]: "client" },
    children: [],
  }));
  return {
    id: traceId,
    // The exporter would merge traces with the same root.
    rootSpanId: generateSpanId(),
    startTime: 0,
    endTime: 0,
    duration: 0,
    spans: new Map(spans.map((span) => [span.id, span])),
    metadata: { origin: "client" },
  };
}

/** File names that don't say what the app is. Its folder does. */
const ENTRY_NAME = /^(?:main|index|mod|app|server)$/;

function serviceNameOf(entry: string): string {
  const name = basename(entry).replace(/\.\w+$/, "");
  return ENTRY_NAME.test(name) ? basename(dirname(resolve(entry))) : name;
}
