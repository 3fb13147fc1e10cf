/**
 * The options of an OTLP exporter.
 *
 * @module
 */

import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import {
  aBoolean,
  aFunction,
  aPositiveInteger,
  aString,
  isObject,
  kindOf,
  MAX_DELAY,
  rule,
  show,
  withMethods,
} from "../../core/check/rules.ts";
import { redactMessage } from "../../core/redact/redact.ts";
import { runOutside } from "../../core/request_scope.ts";
import type { AttributeValue } from "../types.ts";
import type { BatchFormat } from "./otlp_batches.ts";
import {
  type OTLPExporterTimers,
  type SenderOptions,
  TRACES_PATH,
} from "./otlp_sender.ts";
import { toKeyValues } from "./otlp_value.ts";

/** How traces are batched. */
export interface OTLPBatchOptions {
  /** Maximum traces of a request, within 4 MiB of text. Default: 100. */
  readonly maxSize?: number;
  /** How long a trace waits for others, in milliseconds. Default: 5000. */
  readonly maxDelayMs?: number;
  /**
   * Maximum traces kept until accepted; further ones are dropped. Default:
   * 5000.
   */
  readonly maxQueue?: number;
  /**
   * Maximum spans of these traces, since traces differ in size; further traces
   * are dropped. Default: 50,000.
   */
  readonly maxQueueSpans?: number;
  /** Maximum requests at a time. Default: 8. */
  readonly maxInFlight?: number;
}

/** Options of an exporter. */
export interface OTLPExporterOptions {
  /**
   * The collector's URL. A URL with a path is used as it is, like
   * `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`. Without a path, as in
   * `http://localhost:4318`, it stands for its `/v1/traces`. To use
   * `OTEL_EXPORTER_OTLP_ENDPOINT`, append `/v1/traces`. A double slash before
   * it counts as one.
   *
   * The port of OTLP over HTTP is 4318, and not 4317.
   */
  readonly url: string;
  /** Headers of each request, such as `authorization`. Never logged. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The name of this service. Default: `unknown_service`. */
  readonly serviceName?: string;
  /**
   * Further attributes of this service, under the names of OpenTelemetry's
   * conventions for resources, such as `service.version`. Default: none.
   */
  readonly resource?: Readonly<Record<string, AttributeValue>>;
  /** How traces are batched. */
  readonly batch?: OTLPBatchOptions;
  /** Whether requests are compressed. Default: false. */
  readonly gzip?: boolean;
  /**
   * Called with the first error of an outage. Default: `console.warn` of the
   * message.
   */
  readonly onError?: (error: Error) => void;
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** The clock, timers and randomness. Default: the system's. */
  readonly timers?: OTLPExporterTimers;
}

/** The deadline of `flush` and `close`. */
export interface OTLPDeadline {
  /** How long to wait, in milliseconds. Default: 5000. */
  readonly timeoutMs?: number;
}

const anObject = rule("an object", isObject);

const OPTIONS: OptionRules<OTLPExporterOptions> = {
  url: true,
  headers: anObject,
  serviceName: aString,
  resource: anObject,
  batch: true,
  gzip: aBoolean,
  onError: aFunction,
  fetch: aFunction,
  timers: withMethods(
    "an object with now(), after() and random()",
    "now",
    "after",
    "random",
  ),
};

const BATCH: OptionRules<OTLPBatchOptions> = {
  maxSize: aPositiveInteger,
  maxDelayMs: rule(
    `a whole number of milliseconds from 0 to ${MAX_DELAY}`,
    (value) =>
      Number.isInteger(value) && 0 <= Number(value) &&
      Number(value) <= MAX_DELAY,
  ),
  maxQueue: aPositiveInteger,
  maxQueueSpans: aPositiveInteger,
  maxInFlight: aPositiveInteger,
};

const REAL_TIMERS: OTLPExporterTimers = {
  now: () => Date.now(),
  after: (delay, fn) => {
    const timer = runOutside(() => setTimeout(fn, delay));
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

const CREATE = "create OTLP exporter";

/** An exporter's options, checked and complete. */
export interface ExporterSettings
  extends Required<Omit<OTLPBatchOptions, "maxInFlight">> {
  readonly format: BatchFormat;
  readonly sender: SenderOptions;
  readonly timers: OTLPExporterTimers;
}

/** Checks the options and fills in the defaults. */
export function readExporterOptions(
  options: OTLPExporterOptions,
): ExporterSettings {
  checkOptions(options, OPTIONS, CREATE);
  const { batch = {}, timers = REAL_TIMERS, gzip = false } = options;
  checkOptions(batch, BATCH, CREATE, "batch");
  const {
    maxSize = 100,
    maxDelayMs = 5000,
    maxQueue = 5000,
    maxQueueSpans = 50_000,
    maxInFlight = 8,
  } = batch;
  const headers = readHeaders(options.headers ?? {});
  headers.set("content-type", "application/json");
  if (gzip) headers.set("content-encoding", "gzip");
  return {
    format: { resource: toKeyValues(readResource(options)), gzip },
    sender: {
      url: readURL(options.url),
      headers,
      // Read late, because tests and other libraries replace it. No request is the
      // reason for an export, so none shows it.
      fetch: options.fetch ??
        ((input, init) => runOutside(() => globalThis.fetch(input, init))),
      timers,
      onError: options.onError ??
        ((error) => console.warn(redactMessage(error.message))),
      maxInFlight,
    },
    maxSize,
    maxDelayMs,
    maxQueue,
    maxQueueSpans,
    timers,
  };
}

/** Errors don't contain the URL, because it may contain a password. */
function readURL(text: unknown): URL {
  const url = URL.parse(String(text));
  const isHTTP = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === null || !isHTTP) {
    fail(
      "url must be an http or https URL, such as http://localhost:4318",
      typeof text === "string" ? "another string" : kindOf(text),
    );
  }
  if (url.username || url.password) {
    fail(
      "url must not contain a user name or password, which go into headers.authorization",
      "a URL with one",
    );
  }
  if (url.pathname === "/") url.pathname = TRACES_PATH;
  // Somebody appended it to a base URL that ends in a slash.
  url.pathname = url.pathname.replace(`/${TRACES_PATH}`, TRACES_PATH);
  url.hash = "";
  return url;
}

/** Returns the attributes of the service. */
function readResource(
  { serviceName, resource = {} }: OTLPExporterOptions,
): Readonly<Record<string, AttributeValue>> {
  for (const [key, value] of Object.entries(resource)) {
    if (typeof value === "string" || typeof value === "boolean") continue;
    if (Number.isFinite(value)) continue;
    fail(
      `resource ${show(key)} must be a text, a finite number or a boolean`,
      show(value),
    );
  }
  return {
    // The conventions demand a name.
    "service.name": "unknown_service",
    ...resource,
    ...(serviceName !== undefined && { "service.name": serviceName }),
  };
}

/** Errors name the invalid header, and never contain its value. */
function readHeaders(values: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values)) {
    if (!canBeSet(name, "")) {
      fail("headers must have names that HTTP allows", show(name));
    }
    if (!canBeSet(name, value)) {
      fail(
        `header ${show(name)} must have a value that HTTP allows`,
        "one with a line break, NUL or letters beyond Latin-1",
      );
    }
    headers.set(name, value);
  }
  return headers;
}

function canBeSet(name: string, value: string): boolean {
  try {
    return new Headers([[name, value]]).has(name);
  } catch {
    return false;
  }
}

function fail(what: string, received: string): never {
  throw new TypeError(`Cannot ${CREATE}: ${what}, received ${received}`);
}
