/**
 * What the tracer is compared with: OpenTelemetry's SDK, set up as lean as it
 * can be for keeping the last traces in memory, and a floor that does the least
 * any tracer has to.
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

/** Keeps the last spans, synchronously: no batching, no export. */
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

/** OpenTelemetry with its own context propagation switched on. */
export function createOpenTelemetry(): Tracer {
  context.setGlobalContextManager(
    new AsyncLocalStorageContextManager().enable(),
  );
  return new BasicTracerProvider({
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new RingProcessor(2_000)],
  }).getTracer("bench");
}

/** The context in which a span is the parent of new ones. */
export function contextOf(span: Span): Context {
  return trace.setSpan(context.active(), span);
}

/** The least that a span costs: what any tracer has to note about it. */
export interface FloorSpan {
  readonly id: string;
  readonly traceId: string;
  readonly parentId: string | null;
  readonly name: string;
  readonly startTime: number;
  endTime: number;
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** The last traces of the floor. */
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

/** Ends a span: another clock reading, and it is kept. */
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

/** A random span id, the quickest way there is to draw one at a time. */
export function randomSpanId(): string {
  return crypto.getRandomValues(bytes8).toHex();
}

/** A random trace id. */
export function randomTraceId(): string {
  return crypto.getRandomValues(bytes16).toHex();
}
