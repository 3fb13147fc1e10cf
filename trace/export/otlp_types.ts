/**
 * The part of OTLP/JSON that traces use, as the specification's protobuf
 * definitions map to JSON: lowerCamelCase names, ids in hexadecimal, 64-bit
 * integers as decimal strings, enums as integers.
 *
 * @module
 */

/** A named value. */
export interface OTLPKeyValue {
  /** The name. */
  readonly key: string;
  /** The value: one of these is present. */
  readonly value: {
    /** A text. */
    readonly stringValue?: string;
    /** True or false. */
    readonly boolValue?: boolean;
    /** A 64-bit integer in decimal. */
    readonly intValue?: string;
    /** A double, or text for one that JSON can't represent, such as `NaN`. */
    readonly doubleValue?: number | string;
  };
}

/** A span. */
export interface OTLPSpan {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** 16 hexadecimal digits; absent for a root. */
  readonly parentSpanId?: string;
  /** The name. */
  readonly name: string;
  /** 1 is internal, 2 server, 3 client. */
  readonly kind: 1 | 2 | 3;
  /** The start in nanoseconds since the Unix epoch, in decimal. */
  readonly startTimeUnixNano: string;
  /** The end in nanoseconds since the Unix epoch, in decimal. */
  readonly endTimeUnixNano: string;
  /** Named values, each with a unique name. */
  readonly attributes: readonly OTLPKeyValue[];
  /** The number of dropped attributes. */
  readonly droppedAttributesCount?: number;
  /** The events. */
  readonly events: readonly {
    /** The time in nanoseconds since the Unix epoch, in decimal. */
    readonly timeUnixNano: string;
    /** The name. */
    readonly name: string;
    /** Named values. */
    readonly attributes?: readonly OTLPKeyValue[];
  }[];
  /** The number of dropped events. */
  readonly droppedEventsCount?: number;
  /** The status. */
  readonly status: {
    /** 0 is unset, 1 ok, 2 error. */
    readonly code: 0 | 1 | 2;
    /** The reason of a failure. */
    readonly message?: string;
  };
}

/** The request to a collector, and a line of a file. */
export interface OTLPTraces {
  /** The spans by service. */
  readonly resourceSpans: readonly {
    /** The service. */
    readonly resource: { readonly attributes: readonly OTLPKeyValue[] };
    /** The spans by instrumentation library. */
    readonly scopeSpans: readonly {
      /** The library. */
      readonly scope: { readonly name: string };
      /** Its spans, of any traces. */
      readonly spans: readonly OTLPSpan[];
    }[];
  }[];
}
