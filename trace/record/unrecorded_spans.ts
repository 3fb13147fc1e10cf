/**
 * Spans that aren't recorded, but have ids.
 *
 * @module
 */

import type { SpanOpener } from "../../core/observed_span.ts";
import { NoopSpan } from "../noop_tracer.ts";
import type { Attributes, Layer, Span } from "../types.ts";
import { generateSpanId, generateTraceId } from "../trace_context.ts";

/**
 * A span that isn't recorded, because its layer is switched off or its trace is
 * full. Spans below it belong to the recorded span above it.
 */
export class SkippedSpan implements Span {
  readonly #above: Span;

  /** Creates a stand-in below a recorded span. */
  constructor(above: Span) {
    this.#above = above;
  }

  get id(): string {
    return this.#above.id;
  }

  get traceId(): string {
    return this.#above.traceId;
  }

  get root(): Span {
    return this.#above.root;
  }

  child(name: string, layer: Layer, attributes?: Attributes): Span {
    return this.#above.child(name, layer, attributes);
  }

  elapsed(): number {
    return this.#above.elapsed();
  }

  setAttribute(): void {}

  event(): void {}

  error(): void {}

  end(): void {}

  continuation(): SpanOpener {
    return this.#above.continuation();
  }
}

/**
 * The span of an unsampled request and of everything in it. Its ids go into
 * `traceparent`, together with the decision not to record (W3C Trace Context,
 * section 3.2.2.5).
 */
export class UnsampledSpan extends NoopSpan {
  override readonly id: string = generateSpanId();
  override readonly traceId: string;

  /**
   * Creates a stand-in.
   *
   * @param traceId The trace. Default: a new one.
   */
  constructor(traceId: string = generateTraceId()) {
    super();
    this.traceId = traceId;
  }
}
