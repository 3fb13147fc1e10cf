/**
 * The records and interfaces of tracing, which the tracer, the no-op tracer,
 * the stream, the exporters and the viewer share.
 *
 * All times are milliseconds with a fraction. Points in time count from the
 * Unix epoch.
 *
 * @module
 */

import type {
  Attributes,
  AttributeValue,
  Layer,
  SpanOpener,
} from "../core/observed_span.ts";

export type { Attributes, AttributeValue, Layer, SpanOpener };

/** The status of a span. `timeout` if its trace ended first. */
export type SpanStatus = "ok" | "error" | "timeout";

/** An event at one moment of a span. */
export interface SpanEvent {
  /** The name, such as `exception`. */
  readonly name: string;
  /** The time, in epoch milliseconds. */
  readonly time: number;
  /** Named values. */
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

/** The record of a span. */
export interface SpanData {
  /** 16 lower-case hex digits (W3C Trace Context §3.2.2.4). */
  readonly id: string;
  /** 32 lower-case hex digits (W3C Trace Context §3.2.2.3). */
  readonly traceId: string;
  /**
   * The span around this one, or `null`. It may belong to another service. In a
   * joined trace, only the root's parent may be absent.
   */
  readonly parentId: string | null;
  /** The name, such as `GET /countries` or `loader:country`. */
  readonly name: string;
  /** The part of the application that did it. */
  readonly layer: Layer;
  /** The status. */
  readonly status: SpanStatus;
  /** The start, in epoch milliseconds. */
  readonly startTime: number;
  /** The end, in epoch milliseconds. `startTime` while the span is open. */
  readonly endTime: number;
  /** The duration, in milliseconds. 0 while the span is open. */
  readonly duration: number;
  /** Named values. */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
  /** Its events, oldest first. */
  readonly events: readonly SpanEvent[];
  /** The ids of the spans directly below, in order of their start. */
  readonly children: readonly string[];
  /** The number of dropped attributes. Absent if there are none. */
  readonly droppedAttributes?: number;
  /** The number of dropped events. Absent if there are none. */
  readonly droppedEvents?: number;
}

/** Metadata of a trace. */
export interface TraceMetadata {
  /** The side that started the trace. */
  readonly origin: "server" | "client";
  /** The HTTP method of the request. */
  readonly method?: string;
  /** The path of the request. */
  readonly pathname?: string;
  /** The HTTP status of the response. */
  readonly statusCode?: number;
  /** The pattern of the matched route, such as `/countries/:code`. */
  readonly routePattern?: string;
  /** The number of dropped spans. Absent if there are none. */
  readonly droppedSpans?: number;
  /**
   * The start of the earlier run of the dev command that recorded it, in epoch
   * milliseconds. Absent in the present run.
   */
  readonly run?: number;
}

/**
 * The record of a trace: the spans of all requests, pages and services with its
 * id, joined into one tree. The event `trace:end` carries one request alone.
 */
export interface TraceData {
  /**
   * The trace id of the root span. Linked spans, such as the requests of a
   * page's resources, keep their own.
   */
  readonly id: string;
  /**
   * The span that caused the others: a page load, a navigation, an interaction,
   * a job, or the first request.
   */
  readonly rootSpanId: string;
  /** The earliest start of a span, in epoch milliseconds. */
  readonly startTime: number;
  /** The latest end of a span, in epoch milliseconds. */
  readonly endTime: number;
  /**
   * The time between the two, in milliseconds. For a single request, it is the
   * duration of the root span. Running spans count with their start. Spans with
   * `app.detached`, and those below, don't count.
   */
  readonly duration: number;
  /** All spans by id, in order of their start. */
  readonly spans: ReadonlyMap<string, SpanData>;
  /** Metadata of the operation. */
  readonly metadata: TraceMetadata;
}

/** The same record as plain JSON: `spans` is a list. */
export interface SerializedTrace extends Omit<TraceData, "spans"> {
  /** All spans, in order of their start. */
  readonly spans: readonly SpanData[];
}

/** An event for the subscribers of a tracer. */
export type TraceEvent =
  /** A trace started with this root span, or a span started or ended. */
  | {
    readonly type: "trace:start" | "span:start" | "span:end";
    readonly traceId: string;
    readonly span: SpanData;
  }
  /** A request or job ended and was stored. `trace` has its own spans only. */
  | { readonly type: "trace:end"; readonly trace: TraceData }
  /**
   * A stored trace has changed. `trace` is the joined trace, which is created
   * when it is read. `traceId` is one of its ids.
   */
  | {
    readonly type: "trace:update";
    readonly traceId: string;
    readonly trace: TraceData;
  }
  /** Ended spans of a browser were added, as the browser recorded them. */
  | {
    readonly type: "span:merge";
    readonly traceId: string;
    readonly spans: readonly SpanData[];
  }
  /** A trace ended and wasn't stored, because it was too short or excluded. */
  | {
    readonly type: "trace:discard";
    readonly traceId: string;
    readonly rootSpanId: string;
  }
  /** Something happened on a span. */
  | {
    readonly type: "span:event";
    readonly traceId: string;
    readonly spanId: string;
    readonly event: SpanEvent;
  };

/** A running span. */
export interface Span {
  /** 16 lower-case hex digits. */
  readonly id: string;
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /**
   * The span of the request: the nearest one of the layer `request`. Outside of
   * a request, it is the first span of the trace.
   */
  readonly root: Span;
  /** Opens a span below this one. */
  child(name: string, layer: Layer, attributes?: Attributes): Span;
  /** Returns how long the span has run, in milliseconds. */
  elapsed(): number;
  /** Sets an attribute. The last value stays. */
  setAttribute(key: string, value: AttributeValue): void;
  /** Records that something happened now. */
  event(name: string, attributes?: Attributes): void;
  /** Marks the span as failed, and records the error if there is one. */
  error(error?: unknown): void;
  /** Ends the span. Every later call on it does nothing. */
  end(): void;
  /**
   * Returns a function that opens spans for work that may outlive this span,
   * such as work on a socket. Each is the root of its own record, in the same
   * trace and with this span as its parent.
   */
  continuation(): SpanOpener;
}

/** Options of a span. */
export interface SpanOptions {
  /** The parent. Default: the active span. */
  readonly parent?: Span;
  /** The first attributes. */
  readonly attributes?: Attributes;
}

/** Options of a trace. */
export interface TraceOptions {
  /** The first attributes of the root span. */
  readonly attributes?: Attributes;
  /** The trace id to continue, from another service's `traceparent`. */
  readonly traceId?: string;
  /** The span of the other service that called, from its `traceparent`. */
  readonly parentId?: string;
}

/** A span that ran in a browser, validated and on the server's clock. */
export interface ClientSpanData extends
  Omit<
    SpanData,
    "traceId" | "duration" | "children" | "droppedAttributes" | "droppedEvents"
  > {}

/** An event of a span that another service recorded. */
export interface RemoteEvent {
  /** 32 lower-case hex digits. */
  readonly traceId: string;
  /** 16 lower-case hex digits. */
  readonly spanId: string;
  /** The event. */
  readonly event: SpanEvent;
}

/** Opens spans and keeps the traces they form. */
export interface Tracer {
  /**
   * Starts a trace and returns its root span. The end of that span ends the
   * trace.
   */
  startTrace(name: string, layer?: Layer, options?: TraceOptions): Span;
  /**
   * Opens a span below the active one. Without an active span, it starts a
   * trace.
   */
  startSpan(name: string, layer?: Layer, options?: SpanOptions): Span;
  /** Returns the span that is active in the code that calls this. */
  activeSpan(): Span | undefined;
  /**
   * Runs `fn` with a new span as the active one. The span ends when `fn`
   * returns or its promise settles. Errors are recorded and thrown on.
   */
  withSpan<T>(
    name: string,
    layer: Layer,
    fn: (span: Span) => T,
    options?: SpanOptions,
  ): T;
  /**
   * Returns the stored traces, oldest first. The spans of all requests, pages
   * and services with one trace id are joined, as are the traces that they link
   * to. Running requests of a stored trace are included.
   */
  getTraces(): TraceData[];
  /**
   * Returns the stored or running trace with an id. The id of a linked trace
   * returns the trace that it was joined to.
   */
  getTrace(id: string): TraceData | undefined;
  /**
   * Calls `listener` with each event until the returned function is called.
   * With `types`, it only creates these events.
   */
  subscribe(
    listener: (event: TraceEvent) => void,
    types?: readonly TraceEvent["type"][],
  ): () => void;
  /**
   * Adds spans of a browser to the trace with an id, which it creates if
   * necessary. An ended span replaces the open one with its id.
   *
   * @returns The number of added spans. The others were known, or had no room.
   */
  mergeClientSpans(traceId: string, spans: readonly ClientSpanData[]): number;
  /**
   * Adds ended spans of other services to the traces with their ids, which it
   * creates if necessary. They aren't exported again.
   *
   * @returns The number of added spans. The others were known, or had no room.
   */
  mergeSpans(spans: readonly SpanData[]): number;
  /**
   * Adds events, such as log records, to spans of other services. An event that
   * arrives before its span waits for it.
   *
   * @returns The number of kept events.
   */
  mergeEvents(events: readonly RemoteEvent[]): number;
}
