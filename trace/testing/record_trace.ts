import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { aFunction } from "../../core/check/rules.ts";
import { runSpan } from "../../core/observe.ts";
import { createTracer } from "../record/tracer.ts";
import { aTracer } from "../record/tracer_options.ts";
import type { TraceData, Tracer } from "../types.ts";

/** Options of {@linkcode recordTrace}. */
export interface RecordTraceOptions {
  /**
   * The tracer that records. With the tracer of a running server, the trace also
   * contains requests over a socket that continue it through `traceparent`.
   * Default: a new tracer.
   */
  readonly tracer?: Tracer;
}

/** The result of {@linkcode recordTrace}. */
export interface TraceRecording<T> {
  /** The trace. */
  readonly trace: TraceData;
  /** The result of the function. */
  readonly result: T;
}

const OPTIONS: OptionRules<RecordTraceOptions> = {
  tracer: aTracer("startTrace", "getTrace"),
};

/** The name of the root span. */
const NAME = "recordTrace";

/** More than a test needs. The tracer uses memory only for recorded spans. */
const MAX_SPANS = 100_000;

/**
 * Runs a function and records the spans of its work: queries, cached functions,
 * procedures, `withSpan`, and requests to `app.fetch()`. The app needs no
 * tracing of its own. Its own tracer doesn't receive these spans.
 *
 * Recordings in parallel don't mix. A recording inside another one is separate.
 * Work that continues after the function has returned isn't recorded. So read a
 * streamed body inside the function.
 *
 * @param fn The function to record.
 * @param options The tracer.
 * @returns The trace and the result of `fn`. Rejects with the error of `fn`. To
 * check the trace of work that fails, catch the error inside `fn`.
 * @throws {TypeError} If an option is wrong or unknown, or if the tracer doesn't
 * store the trace.
 *
 * @example
 * ```ts
 * import { withSpan } from "@quartet/kit/trace";
 * import { expectTrace, recordTrace } from "@quartet/kit/trace/testing";
 *
 * const { trace, result } = await recordTrace(() =>
 *   withSpan("sort", "custom", () => [3, 1, 2].sort())
 * );
 * expectTrace(trace).span("sort", { exactly: 1 });
 * console.assert(result[0] === 1);
 * ```
 */
export async function recordTrace<T>(
  fn: () => T,
  options: RecordTraceOptions = {},
): Promise<TraceRecording<Awaited<T>>> {
  const operation = "record trace";
  checkValue(fn, "fn", aFunction, operation);
  checkOptions(options, OPTIONS, operation);
  const { tracer = createTracer({ maxSpansPerTrace: MAX_SPANS }) } = options;
  const root = tracer.startTrace(NAME, "custom");
  const result = await runSpan(root, () => fn());
  const trace = tracer.getTrace(root.traceId);
  if (trace === undefined) {
    throw new TypeError(
      "Cannot record trace: tracer must store each trace, received one that dropped it",
    );
  }
  return { trace, result };
}
