/**
 * The part of OTLP/JSON that traces use, as the specification's protobuf
 * definitions map to JSON: lowerCamelCase names, ids in hexadecimal, 64-bit
 * integers as decimal strings, enums as integers.
 *
 * @module
 */

/** A value of an attribute: one of its fields is present. */
export interface OTLPAnyValue {
  /** A text. */
  readonly stringValue?: string;
  /** True or false. */
  readonly boolValue?: boolean;
  /** A 64-bit integer in decimal. */
  readonly intValue?: string;
  /** A double; text for those that JSON has no number for, such as `NaN`. */
  readonly doubleValue?: number | string;
}

/** A named value. */
export interface OTLPKeyValue {
  /** The name. */
  readonly key: string;
  /** The value. */
  readonly value: OTLPAnyValue;
}

/** Something that happened at one moment of a span. */
export interface OTLPEvent {
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly timeUnixNano: string;
  /** What happened. */
  readonly name: string;
  /** What is known about it. */
  readonly attributes?: readonly OTLPKeyValue[];
}

/** How a span went. */
export interface OTLPStatus {
  /** 0 is unset, 1 ok, 2 error. */
  readonly code: 0 | 1 | 2;
  /** Why it failed. */
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
  /** What was done. */
  readonly name: string;
  /** 1 is internal, 2 server, 3 client. */
  readonly kind: 1 | 2 | 3;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly startTimeUnixNano: string;
  /** Nanoseconds since the Unix epoch, in decimal. */
  readonly endTimeUnixNano: string;
  /** Named values; no name twice. */
  readonly attributes: readonly OTLPKeyValue[];
  /** How many attributes did not fit. */
  readonly droppedAttributesCount?: number;
  /** What happened while it ran. */
  readonly events: readonly OTLPEvent[];
  /** How many events did not fit. */
  readonly droppedEventsCount?: number;
  /** How it went. */
  readonly status: OTLPStatus;
}

/** The spans of one instrumentation library. */
export interface OTLPScopeSpans {
  /** The library. */
  readonly scope: { readonly name: string };
  /** Its spans, of any traces. */
  readonly spans: readonly OTLPSpan[];
}

/** The spans of one service. */
export interface OTLPResourceSpans {
  /** The service. */
  readonly resource: { readonly attributes: readonly OTLPKeyValue[] };
  /** Its spans by library. */
  readonly scopeSpans: readonly OTLPScopeSpans[];
}

/** What is sent to a collector, and what is on each line of a file. */
export interface OTLPTraces {
  /** The spans by service. */
  readonly resourceSpans: readonly OTLPResourceSpans[];
}
