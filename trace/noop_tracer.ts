/**
 * The tracer that does nothing. Its methods declare no parameters, so that
 * users see the interfaces' names.
 *
 * @module
 */

import type { SpanOpener } from "../core/observed_span.ts";
import type { Span, TraceData, Tracer } from "./types.ts";

/** The span that records nothing. Its ids are empty. */
export class NoopSpan implements Span {
  readonly id: string = "";
  readonly traceId: string = "";
  get root(): Span {
    return this;
  }
  child(): Span {
    return this;
  }
  elapsed(): number {
    return 0;
  }
  setAttribute(): void {}
  event(): void {}
  error(): void {}
  end(): void {}
  continuation(): SpanOpener {
    return () => this;
  }
}

/** The span of {@linkcode noopTracer}, which records nothing. */
export const noopSpan: Span = /* @__PURE__ */ new NoopSpan();

/** The tracer that records nothing. `withSpan` runs its function. */
export class SilentTracer implements Tracer {
  startTrace(): Span {
    return noopSpan;
  }
  startSpan(): Span {
    return noopSpan;
  }
  activeSpan(): undefined {}
  withSpan<T>(_name: string, _layer: unknown, fn: (span: Span) => T): T {
    return fn(noopSpan);
  }
  getTraces(): TraceData[] {
    return [];
  }
  getTrace(): undefined {}
  subscribe(): () => void {
    return () => {};
  }
  mergeClientSpans(): number {
    return 0;
  }
  mergeSpans(): number {
    return 0;
  }
  mergeEvents(): number {
    return 0;
  }
}

/** The tracer that records nothing. `withSpan` runs its function. */
export const noopTracer: Tracer = /* @__PURE__ */ new SilentTracer();
