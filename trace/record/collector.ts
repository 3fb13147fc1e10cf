import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aFunction,
  aPositiveInteger,
  type Rule,
  withMethods,
} from "../../core/check/rules.ts";
import { ACTION, CLOCK_ERROR, LINK, parseLink } from "../export/semantics.ts";
import { isId } from "../trace_context.ts";
import { checkTracer } from "./tracer_options.ts";
import { readClientSpan } from "./read_client_span.ts";
import type { ClientSpanData, TraceData, Tracer } from "../types.ts";

/** The result for the spans of a message. */
export interface CollectResult {
  /** The number of spans that were added to their trace. */
  readonly added: number;
  /**
   * The number of spans that were malformed, known, of a resource from a cache,
   * or had no room.
   */
  readonly rejected: number;
  /** The problem with the first malformed span, or with the message. */
  readonly error?: string;
}

/** Receives the spans of browsers, and adds them to the server's traces. */
export interface Collector {
  /**
   * Receives a message of the form `{ type: "client:spans", traceId, spans,
   * clock }`.
   *
   * The spans' times are on the browser's clock, in milliseconds from any
   * starting point. `clock.offset` is the difference to the server's clock in
   * milliseconds, as measured with the API or the trace socket. Without it, the
   * difference is estimated from `clock.sentAt`, the browser's time when it sent
   * the message. `clock.error` is the greatest error
   * of the offset, in milliseconds: half of the shortest round trip.
   *
   * @param message The message, as parsed JSON. It may be anything.
   */
  receive(message: unknown): CollectResult;
}

/** Options of a collector. */
export interface CollectorOptions {
  /** Maximum spans of a message. Further ones are rejected. Default: 500. */
  readonly maxSpans?: number;
  /** Returns the server's time in epoch milliseconds. Default: `Date.now`. */
  readonly now?: () => number;
}

const OPTIONS: OptionRules<CollectorOptions> = {
  maxSpans: aPositiveInteger,
  now: aFunction,
};

/** An object that receives the spans of browsers. */
export const aCollector: Rule = withMethods(
  "an object with receive()",
  "receive",
);

/** The maximum offset of a clock: 100 years, in milliseconds. */
const MAX_OFFSET = 100 * 365.25 * 24 * 60 * 60 * 1000;

/**
 * Creates a collector for the spans of browsers. It checks each field of a
 * span, and converts its times to the server's clock. A span with an unknown
 * parent goes below the root of its trace.
 *
 * @param tracer Keeps the traces.
 * @param options Limits.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createCollector, createTracer } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * const span = tracer.startTrace("GET /");
 * span.end();
 *
 * const result = createCollector(tracer).receive({
 *   type: "client:spans",
 *   traceId: span.traceId,
 *   spans: [{
 *     id: "00f067aa0ba902b7",
 *     parentId: span.id,
 *     name: "hydrate:Cart",
 *     layer: "islands",
 *     startTime: Date.now(),
 *     endTime: Date.now() + 5,
 *   }],
 *   clock: { offset: 0 },
 * });
 * console.assert(result.added === 1);
 * ```
 */
export function createCollector(
  tracer: Tracer,
  options: CollectorOptions = {},
): Collector {
  checkTracer(tracer, "create collector", "mergeClientSpans");
  checkOptions(options, OPTIONS, "create collector");
  const { maxSpans = 500, now = Date.now } = options;

  function receive(message: unknown): CollectResult {
    const { type, traceId, spans, clock } = Object(message);
    const refuse = (error: string) => ({ added: 0, rejected: 0, error });
    if (typeof message !== "object" || message === null) {
      return refuse("The message must be an object");
    }
    if (type !== "client:spans") return refuse('type must be "client:spans"');
    if (!isId(traceId, 16)) {
      return refuse("traceId must be 32 lower-case hex digits, not all zero");
    }
    if (!Array.isArray(spans)) return refuse("spans must be an array");

    const offset = offsetOf(clock, now);
    const traces = new Map<string, TraceData | undefined>();
    // Reading a running trace joins all of its spans.
    const readTrace = (id: string) => {
      if (!traces.has(id)) traces.set(id, tracer.getTrace(id));
      return traces.get(id);
    };
    const valid: ClientSpanData[] = [];
    let error: string | undefined;
    for (const [index, item] of spans.slice(0, maxSpans).entries()) {
      const span = readClientSpan(item, `spans[${index}]`, offset);
      if (typeof span === "string") error ??= span;
      else if (!isFromCache(span, readTrace, clock)) {
        valid.push(withClockError(span, clock));
      }
    }
    if (spans.length > maxSpans) {
      error ??= `spans must be at most ${maxSpans}, received ${spans.length}`;
    }
    const added = tracer.mergeClientSpans(traceId, valid);
    const rejected = spans.length - added;
    return { added, rejected, ...error !== undefined && { error } };
  }

  return { receive };
}

/** Keeps the error of a browser's clock on the root of what a user did. */
function withClockError(span: ClientSpanData, clock: unknown): ClientSpanData {
  const { error } = Object(clock);
  return typeof error === "number" && error >= 0 && error <= MAX_OFFSET &&
      Object.hasOwn(span.attributes, ACTION)
    ? { ...span, attributes: { ...span.attributes, [CLOCK_ERROR]: error } }
    : span;
}

/** The error of clocks within a process, in milliseconds. */
const TOLERANCE = 1_000;

/**
 * Whether a resource came from the cache of a service worker, which browsers
 * don't reveal: its request had ended before the page needed it.
 */
function isFromCache(
  span: ClientSpanData,
  readTrace: (id: string) => TraceData | undefined,
  clock: unknown,
) {
  const { attributes, startTime } = span;
  const link = ACTION in attributes ? undefined : parseLink(attributes[LINK]);
  const request = link && readTrace(link.traceId)?.spans.get(link.spanId);
  // Without a measured error, the times may differ by any amount.
  const error = TOLERANCE + Object(clock).error;
  return request !== undefined && request.endTime + error < startTime;
}

function offsetOf(clock: unknown, now: () => number): number {
  const { offset, sentAt } = Object(clock);
  const value = typeof offset === "number"
    ? offset
    : typeof sentAt === "number"
    ? now() - sentAt
    : 0;
  return Math.abs(value) <= MAX_OFFSET ? value : 0;
}
