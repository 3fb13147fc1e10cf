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

/** A value that a span keeps under an attribute's name. */
export type AttributeValue = string | number | boolean;

/** Named values of a span or an event. */
export type Attributes = Readonly<Record<string, AttributeValue | undefined>>;

/**
 * A running span, as far as the host and the modules beside the tracer know
 * it. They open children on it and never ask who keeps the records.
 */
export interface ObservedSpan {
  /** The trace that this span is part of: 32 lower-case hex digits. */
  readonly traceId: string;
  /** The span of the request that this one is part of. */
  readonly root: ObservedSpan;
  /** Opens a span below this one. */
  child(name: string, layer: Layer, attributes?: Attributes): ObservedSpan;
  /** Keeps a value under a name. */
  setAttribute(key: string, value: AttributeValue): void;
  /** Notes that something happened now. */
  event(name: string, attributes?: Attributes): void;
  /** Marks the span as failed and keeps what was thrown. */
  error(error: unknown): void;
  /** Ends the span; every later call on it does nothing. */
  end(): void;
  /**
   * Gives a function that opens spans for work which this one has started and
   * which may outlive it, such as what runs on a socket. Each is the first of a
   * record of its own, in the same trace and with this span as its parent.
   */
  continuation(): SpanOpener;
}

/** Opens a span, now or at any later time. */
export type SpanOpener = (
  name: string,
  layer: Layer,
  attributes?: Attributes,
) => ObservedSpan;
