import { generateSpanId, generateTraceId } from "./ids.ts";
import { NoopSpan } from "../noop_tracer.ts";

/**
 * Stands for all spans of a request that is not traced. It records nothing,
 * but it has ids: other services are told them, and that nobody keeps the
 * trace (W3C Trace Context §3.2.2.5), so that they needn't either.
 */
export class UnsampledSpan extends NoopSpan {
  override readonly id: string = generateSpanId();
  override readonly traceId: string;

  /**
   * Makes a stand-in.
   *
   * @param traceId The trace. Default: one of its own.
   */
  constructor(traceId: string = generateTraceId()) {
    super();
    this.traceId = traceId;
  }
}
