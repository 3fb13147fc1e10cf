import type { Span, Tracer } from "./types.ts";

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
  child(): Span {
    return this;
  }
  /** Gives 0. */
  elapsed(): number {
    return 0;
  }
  /** Does nothing. */
  setAttribute(): void {}
  /** Does nothing. */
  event(): void {}
  /** Does nothing. */
  error(): void {}
  /** Does nothing. */
  end(): void {}
}

/** The one span of tracing that does nothing. */
export const noopSpan: Span = /* @__PURE__ */ new NoopSpan();

/** The tracer that records nothing and runs what it is given to run. */
export class NoopTracer implements Tracer {
  /** Gives the span that records nothing. */
  startTrace(): Span {
    return noopSpan;
  }
  /** Gives the span that records nothing. */
  startSpan(): Span {
    return noopSpan;
  }
  /** Gives nothing. */
  activeSpan(): undefined {}
  /** Runs `fn`. */
  withSpan<T>(_name: string, _layer: unknown, fn: (span: Span) => T): T {
    return fn(noopSpan);
  }
  /** Gives no traces. */
  getTraces(): [] {
    return [];
  }
  /** Gives nothing. */
  getTrace(): undefined {}
  /** Never calls the listener. */
  subscribe(): () => void {
    return () => {};
  }
  /** Adds nothing. */
  mergeClientSpans(): number {
    return 0;
  }
}

/** The one tracer of tracing that does nothing. */
export const noopTracer: Tracer = /* @__PURE__ */ new NoopTracer();
