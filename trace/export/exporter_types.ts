import type { AttributeValue, Tracer } from "../types.ts";

/** How traces are collected before they are sent. */
export interface OTLPBatchOptions {
  /**
   * How many traces go in one request, as far as they are no more than 4 MiB
   * of text. Default: 100.
   */
  readonly maxTraces?: number;
  /** How long a trace waits for others, in milliseconds. Default: 5000. */
  readonly maxDelay?: number;
  /** How many traces wait at most; later ones are dropped. Default: 1000. */
  readonly maxQueue?: number;
}

/** Time and chance, so that tests can own them. */
export interface OTLPExporterTimers {
  /** The time, in epoch milliseconds. */
  now(): number;
  /** Calls `fn` in `delay` milliseconds unless the returned function is. */
  after(delay: number, fn: () => void): () => void;
  /** A number from 0 up to 1. */
  random(): number;
}

/** Where and how an exporter sends. */
export interface OTLPExporterOptions {
  /**
   * Where the collector listens. An address without a path, such as
   * `http://localhost:4318`, stands for its `/v1/traces`.
   */
  readonly url: string;
  /** Headers of each request, such as `authorization`. Never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of this service. Default: `unknown_service`. */
  readonly serviceName?: string;
  /**
   * What else is known of this service, under the names of OpenTelemetry's
   * conventions for resources, such as `service.version` or
   * `deployment.environment.name`. Default: nothing.
   */
  readonly resource?: Readonly<Record<string, AttributeValue>>;
  /** How traces are collected before they are sent. */
  readonly batch?: OTLPBatchOptions;
  /** Whether requests are compressed. Default: false. */
  readonly gzip?: boolean;
  /**
   * Is told when something goes wrong, once until it goes right again.
   * Default: `console.warn` of the message.
   */
  readonly onError?: (error: Error) => void;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Time and chance. Default: the real ones. */
  readonly timers?: OTLPExporterTimers;
}

/** What has become of the traces so far, in traces. */
export interface OTLPExporterStats {
  /** Taken by the collector. */
  readonly exported: number;
  /** Given up: the queue was full, or the exporter closed. */
  readonly dropped: number;
  /** Sent in vain: refused, or not taken at the last attempt. */
  readonly failed: number;
  /** Waiting, or being sent. */
  readonly queued: number;
}

/** How long {@linkcode OTLPExporter}'s `flush` and `close` may take. */
export interface OTLPDeadline {
  /** In milliseconds. Default: 5000. */
  readonly timeout?: number;
}

/** Sends the traces of tracers to a collector. */
export interface OTLPExporter {
  /** What has become of the traces so far. */
  readonly stats: OTLPExporterStats;
  /**
   * Exports each trace of a tracer when it ends, until the returned function
   * is called. Spans that a browser sends later go along if their trace is
   * still waiting.
   *
   * @throws {TypeError} If the exporter is closed.
   */
  attach(tracer: Pick<Tracer, "subscribe">): () => void;
  /**
   * Sends what is waiting now. A wait that the exporter chose itself is cut
   * short, one that the collector asked for isn't.
   *
   * @returns Whether nothing was left at the deadline.
   */
  flush(deadline?: OTLPDeadline): Promise<boolean>;
  /** Detaches from all tracers, flushes, and drops what is left then. */
  close(deadline?: OTLPDeadline): Promise<void>;
  /** Closes, at the end of the block of an `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
