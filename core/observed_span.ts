/** The part of an application that a span belongs to. */
export type Layer =
  | "request"
  | "routing"
  | "data"
  | "forms"
  | "signals"
  | "rpc"
  | "database"
  | "auth"
  | "islands"
  | "build"
  | "errors"
  | "custom";

/** The value of an attribute. */
export type AttributeValue = string | number | boolean;

/** The attributes of a span or an event. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/**
 * A running span. The host and the modules open children on it, without knowing
 * the tracer.
 */
export interface ObservedSpan {
  /** The id of the trace: 32 lower-case hex digits. */
  readonly traceId: string;
  /** The span of the request. */
  readonly root: ObservedSpan;
  /** Opens a span below this one. */
  child(name: string, layer: Layer, attributes?: Attributes): ObservedSpan;
  /** Sets an attribute. */
  setAttribute(key: string, value: AttributeValue): void;
  /** Records an event at the current time. */
  event(name: string, attributes?: Attributes): void;
  /** Marks the span as failed and records the error. */
  error(error: unknown): void;
  /** Ends the span. Later calls on it do nothing. */
  end(): void;
  /**
   * Returns a function that opens spans for work that may outlive this span, as on a
   * socket. Each of them starts a separate record, in the same trace and with this
   * span as its parent.
   */
  continuation(): SpanOpener;
}

/**
 * Opens a span, now or at any later time.
 *
 * @param traceparent The caller's span, as W3C Trace Context writes it. The
 * opened span continues the caller's trace then. A malformed text is ignored.
 */
export type SpanOpener = (
  name: string,
  layer: Layer,
  attributes?: Attributes,
  traceparent?: string,
) => ObservedSpan;
