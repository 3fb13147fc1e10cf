/**
 * The peers of the tracer: OpenTelemetry's SDK in its leanest setup for keeping
 * recent traces in memory, and a floor with the minimum that any tracer needs.
 *
 * @module
 */

import {
  type Context,
  context,
  type Span,
  trace,
  type Tracer,
} from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import {
  AlwaysOnSampler,
  BasicTracerProvider,
  type ReadableSpan,
  type SpanProcessor,
} from "@opentelemetry/sdk-trace-base";

/** Keeps recent spans synchronously, without batching or export. */
class RingProcessor implements SpanProcessor {
  readonly #spans: ReadableSpan[] = [];
  readonly #capacity: number;
  #next = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  onStart(): void {}

  onEnd(span: ReadableSpan): void {
    this.#spans[this.#next] = span;
    this.#next = (this.#next + 1) % this.#capacity;
  }

  forceFlush(): Promise<void> {
    return Promise.resolve();
  }

  shutdown(): Promise<void> {
    return Promise.resolve();
  }
}

/** Creates an OpenTelemetry tracer with its context propagation enabled. */
export function createOpenTelemetry(): Tracer {
  context.setGlobalContextManager(
    new AsyncLocalStorageContextManager().enable(),
  );
  return new BasicTracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new RingProcessor(2_000)],
  }).getTracer("bench");
}

/** Returns a context that makes a span the parent of new ones. */
export function contextOf(span: Span): Context {
  return trace.setSpan(context.active(), span);
}

/** The fields that any tracer has to record. */
export interface FloorSpan {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly startTime: number;
  endTime: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** The floor's recent traces. */
export const floorTraces: FloorSpan[][] = [];

/** Opens a span: a plain object, a clock reading and a random id. */
export function floorSpan(
  traceId: string,
  parentId: string | null,
  name: string,
  attributes: Readonly<Record<string, string | number>>,
): FloorSpan {
  return {
    id: randomSpanId(),
    traceId,
    parentId,
    name,
    startTime: performance.now(),
    endTime: 0,
    attributes,
  };
}

/** Ends a span: another clock reading, and a push into the list. */
export function endFloorSpan(spans: FloorSpan[], span: FloorSpan): void {
  span.endTime = performance.now();
  spans.push(span);
}

/** Keeps a trace in a bounded list. */
export function keepFloorTrace(spans: FloorSpan[], index: number): void {
  floorTraces[index % 200] = spans;
}

const bytes8 = new Uint8Array(8);
const bytes16 = new Uint8Array(16);

/** Returns a random span id in the fastest way to draw a single one. */
export function randomSpanId(): string {
  return crypto.getRandomValues(bytes8).toHex();
}

/** A random trace id. */
export function randomTraceId(): string {
  return crypto.getRandomValues(bytes16).toHex();
}
