/**
 * The interfaces between a span, its trace and its tracer.
 *
 * ```
 * span ──► trace ──► tracer
 * ```
 *
 * @module
 */

import type {
  Attributes,
  Layer,
  RemoteEvent,
  Span,
  SpanData,
  SpanEvent,
  TraceData,
  TraceOptions,
  Tracer,
} from "../types.ts";
import type { Clock, TraceSettings } from "./tracer_options.ts";
import type { IdGenerator } from "../trace_context.ts";
import { linksOf } from "../export/semantics.ts";

/** The tracer, as its traces see it. */
export interface TraceHost extends TraceSettings {
  /** The clocks. */
  readonly clock: Clock;
  /** Returns the epoch time at which the monotonic clock read 0. */
  readonly originAt: (monotonic: number) => number;
  /** The source of ids. */
  readonly ids: IdGenerator;
  /** Finds the lines of user code, under the dev command. */
  locator: SpanLocator | undefined;
  /** Starts another trace. */
  startTrace(name: string, layer: Layer, options: TraceOptions): Span;
  /** Called when a span has started. */
  onSpanStart(span: Span): void;
  /** Called when a span has ended. */
  onSpanEnd(span: Span): void;
  /** Called with each event of a span. */
  onEvent(span: Span, event: SpanEvent): void;
  /** Called when a trace has ended. */
  onTraceEnd(trace: SpanTrace): void;
}

/** A function or a class. */
type Callable =
  | (abstract new (...args: never) => unknown)
  | ((...args: never) => unknown);

/** Finds the lines of user code behind spans. The dev command sets one. */
export interface SpanLocator {
  /**
   * Captures the call stack, if a line of it can be the cause of the span.
   *
   * @param caller A running function. The stack ends at its call.
   */
  capture(
    name: string,
    attributes: Attributes | undefined,
    caller: Callable,
  ): object | undefined;
  /** Returns the attributes with the file and line of a captured stack. */
  locate(captured: object): SpanData["attributes"] | undefined;
  /** Returns the same for the recorded stack of an error. */
  locateError(stack: string): SpanData["attributes"] | undefined;
}

/** The host of each tracer. Not a member, because it isn't public. */
export const hostOf = new WeakMap<Tracer, TraceHost>();

/** A trace, as its spans see it. */
export interface SpanTrace {
  /** The tracer. */
  readonly host: TraceHost;
  /** Makes the rest of the trace follow other settings. */
  follow(settings: Partial<TraceSettings>): void;
  /** 32 lower-case hex digits. */
  readonly id: string;
  /** The span around the whole operation. */
  readonly root: Span;
  /** The epoch time at which the monotonic clock read 0. */
  readonly origin: number;
  /** The calling span of another service, if there is one. */
  readonly remoteParentId: string | null;
  /** Returns the time, in epoch milliseconds. */
  now(): number;
  /**
   * Reserves `size` bytes for an attribute or an event, or returns `false` if
   * they don't fit.
   */
  charge(size: number, purpose: string): boolean;
  /** Whether an error wasn't recorded on a span of this trace before. */
  isNewError(error: unknown): boolean;
  /** Opens a span below `parent` or its nearest open ancestor. */
  openSpan(
    parent: Span,
    name: string,
    layer: Layer,
    attributes: Attributes | undefined,
  ): Span;
  /** Called when a span has ended. */
  onSpanEnd(span: Span): void;
}

/**
 * Keeps the traces of earlier runs, and remembers the present ones. The dev command
 * has them, other tracers have none.
 */
export interface EarlierTraces {
  /** Returns earlier traces and then the given ones, as far as they fit. */
  before(present: readonly TraceData[]): TraceData[];
  /** Returns the trace with an id, or with a linked id. */
  find(traceId: string): TraceData | undefined;
  /** Removes the trace with an id, which goes on, and returns its spans. */
  take(traceId: string): readonly SpanData[];
  /** Called with spans of browsers and other services that were added. */
  onSpans(spans: readonly SpanData[]): void;
  /** Called with events of other services. */
  onEvents(events: readonly RemoteEvent[]): void;
}

/** The earlier traces of a tracer. */
export const earlierOf = new WeakMap<Tracer, EarlierTraces>();

/** Removes and returns the spans of earlier traces that these spans belong to. */
export function takeEarlier(
  tracer: Tracer,
  spans: readonly SpanData[],
): SpanData[] {
  const earlier = earlierOf.get(tracer);
  if (earlier === undefined) return [];
  const parts = [...spans, ...spans.flatMap(linksOf)];
  const ids = new Set(parts.map(({ traceId }) => traceId));
  return [...ids].flatMap((id) => earlier.take(id));
}
