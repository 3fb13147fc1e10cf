/**
 * The part of OTLP/JSON that traces use, as the specification's protobuf
 * definitions map to JSON: lowerCamelCase names, ids in hexadecimal, 64-bit
 * integers as decimal strings, enums as integers.
 *
 * @module
 */

/** A value of an attribute: one of its fields is present. */
export interface OTLPAnyValue {
  readonly stringValue?: string;
  readonly boolValue?: boolean;
  /** A 64-bit integer in decimal. */
  readonly intValue?: string;
  /** A double; text for those that JSON has no number for, such as `NaN`. */
  readonly doubleValue?: number | string;
}

/** A named value. */
export interface OTLPKeyValue {
  readonly key: string;
  readonly value: OTLPAnyValue;
}

/** Something that happened at one moment of a span. */
export interface OTLPEvent {
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly timeUnixNano: string;
  readonly name: string;
  readonly attributes?: readonly OTLPKeyValue[];
}

/** How a span went: code 0 is unset, 1 ok, 2 error. */
export interface OTLPStatus {
  readonly code: 0 | 1 | 2;
  readonly message?: string;
}

/** A span. */
export interface OTLPSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 16 hexadecimal digits; absent for a root. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** 1 is internal, 2 server, 3 client. */
  readonly kind: 1 | 2 | 3;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly startTimeUnixNano: string;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly endTimeUnixNano: string;
  readonly attributes: readonly OTLPKeyValue[];
  readonly droppedAttributesCount?: number;
  readonly events: readonly OTLPEvent[];
  readonly droppedEventsCount?: number;
  readonly status: OTLPStatus;
}

/** The spans of one instrumentation library. */
export interface OTLPScopeSpans {
  readonly scope: { readonly name: string };
  readonly spans: readonly OTLPSpan[];
}

/** The spans of one service. */
export interface OTLPResourceSpans {
  readonly resource: { readonly attributes: readonly OTLPKeyValue[] };
  readonly scopeSpans: readonly OTLPScopeSpans[];
}

/** What is sent to a collector, and what is on each line of a file. */
export interface OTLPTraces {
  readonly resourceSpans: readonly OTLPResourceSpans[];
}
