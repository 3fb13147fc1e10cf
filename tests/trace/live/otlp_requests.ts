/**
 * Sends requests to an OTLP receiver, and keeps what it reads.
 *
 * @module
 */

import { createOTLPReceiver, createTracer } from "@quartet/kit/trace";
import type { RemoteEvent, SpanData, Tracer } from "@quartet/kit/trace";

export const JSON_TYPE = "application/json";
export const PROTOBUF_TYPE = "application/x-protobuf";

export const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";

/** Nanoseconds since 1970 of 2026-01-01. */
export const START = "1767225600000000000";

/** A receiver that keeps all it reads. */
export interface Recorder {
  readonly spans: SpanData[];
  readonly events: RemoteEvent[];
  readonly tracer: Tracer;
  /** Sends a body. A value that is neither text nor bytes is sent as JSON. */
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
}

/** Creates a receiver that lets everyone in. */
export function createRecorder(): Recorder {
  const spans: SpanData[] = [];
  const events: RemoteEvent[] = [];
  const tracer = Object.assign(createTracer(), {
    mergeSpans: (given: readonly SpanData[]) => spans.push(...given),
    mergeEvents: (given: readonly RemoteEvent[]) => events.push(...given),
  });
  const handler = createOTLPReceiver(tracer, { authorize: () => true });
  return {
    spans,
    events,
    tracer,
    post: (path, body, headers = {}) =>
      handler(
        new Request(`http://localhost/__app/traces/otlp/v1/${path}`, {
          method: "POST",
          headers: { "content-type": JSON_TYPE, ...headers },
          body: typeof body === "string" || body instanceof Uint8Array
            ? body as BodyInit
            : JSON.stringify(body),
        }),
      ),
  };
}

/** Returns a span in the form of OTLP/JSON. */
export function otlpSpan(changes: Record<string, unknown> = {}): object {
  return {
    traceId: TRACE_ID,
    spanId: "00f067aa0ba902b7",
    name: "pack",
    kind: 1,
    startTimeUnixNano: START,
    endTimeUnixNano: `${BigInt(START) + 2_500_000n}`,
    attributes: [],
    status: {},
    ...changes,
  };
}

/** Returns a request with these spans of the service `stock`. */
export function requestWith(...spans: unknown[]): object {
  return {
    resourceSpans: [{
      resource: { attributes: [attribute("service.name", "stock")] },
      scopeSpans: [{ scope: { name: "test" }, spans }],
    }],
  };
}

export function attribute(key: string, text: string): object {
  return { key, value: { stringValue: text } };
}
