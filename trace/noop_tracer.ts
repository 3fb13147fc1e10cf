/**
 * The signatures that come before each method's body only exist for the
 * compiler: calls that suit the real thing suit this one.
 *
 * @module
 */

import type { SpanOpener } from "../core/observed_span.ts";
import type {
  Attributes,
  AttributeValue,
  ClientSpanData,
  Layer,
  Span,
  SpanOptions,
  TraceData,
  TraceEvent,
  TraceOptions,
  Tracer,
} from "./types.ts";

/** The span that records nothing. Its ids are empty. */
export class NoopSpan implements Span {
  /** Empty. */
  readonly id: string = "";
  /** Empty. */
  readonly traceId: string = "";
  /** Itself. */
  get root(): Span {
    return this;
  }
  /** Gives itself. */
  child(name: string, layer: Layer, attributes?: Attributes): Span;
  child(): Span {
    return this;
  }
  /** Gives 0. */
  elapsed(): number {
    return 0;
  }
  /** Does nothing. */
  setAttribute(key: string, value: AttributeValue): void;
  setAttribute(): void {}
  /** Does nothing. */
  event(name: string, attributes?: Attributes): void;
  event(): void {}
  /** Does nothing. */
  error(error?: unknown): void;
  error(): void {}
  /** Does nothing. */
  end(): void {}
  /** Gives what gives the span that records nothing. */
  continuation(): SpanOpener {
    return () => this;
  }
}

/** The one span of tracing that does nothing. */
export const noopSpan: Span = /* @__PURE__ */ new NoopSpan();

/** The tracer that records nothing and runs what it is given to run. */
export class NoopTracer implements Tracer {
  /** Gives the span that records nothing. */
  startTrace(name: string, layer?: Layer, options?: TraceOptions): Span;
  startTrace(): Span {
    return noopSpan;
  }
  /** Gives the span that records nothing. */
  startSpan(name: string, layer?: Layer, options?: SpanOptions): Span;
  startSpan(): Span {
    return noopSpan;
  }
  /** Gives nothing. */
  activeSpan(): Span | undefined {
    return undefined;
  }
  /** Runs `fn`. */
  withSpan<T>(
    name: string,
    layer: Layer,
    fn: (span: Span) => T,
    options?: SpanOptions,
  ): T;
  withSpan<T>(_name: string, _layer: unknown, fn: (span: Span) => T): T {
    return fn(noopSpan);
  }
  /** Gives no traces. */
  getTraces(): TraceData[] {
    return [];
  }
  /** Gives nothing. */
  getTrace(id: string): TraceData | undefined;
  getTrace(): TraceData | undefined {
    return undefined;
  }
  /** Never calls the listener. */
  subscribe(
    listener: (event: TraceEvent) => void,
    types?: readonly TraceEvent["type"][],
  ): () => void;
  subscribe(): () => void {
    return () => {};
  }
  /** Adds nothing. */
  mergeClientSpans(traceId: string, spans: readonly ClientSpanData[]): number;
  mergeClientSpans(): number {
    return 0;
  }
}

/** The one tracer of tracing that does nothing. */
export const noopTracer: Tracer = /* @__PURE__ */ new NoopTracer();
