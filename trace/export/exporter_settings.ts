import type { AttributeValue } from "../types.ts";
import { describe } from "./describe.ts";
import type {
  OTLPExporterClock,
  OTLPExporterOptions,
} from "./exporter_types.ts";
import type { SenderOptions } from "./otlp_sender.ts";
import type { OTLPKeyValue } from "./otlp_types.ts";
import { toKeyValues } from "./otlp_value.ts";

/** An exporter's options, checked and complete. */
export interface ExporterSettings {
  readonly sender: SenderOptions;
  readonly maxTraces: number;
  readonly maxDelay: number;
  readonly maxQueue: number;
  readonly onError: (error: Error) => void;
  readonly clock: OTLPExporterClock;
}

const REAL_CLOCK: OTLPExporterClock = {
  now: () => Date.now(),
  after: (delay, fn) => {
    const timer = setTimeout(fn, delay);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

/** The longest delay that timers can tell from none: 31 bits. */
const MAX_TIMER = 2 ** 31 - 1;

/** Checks the options and fills in the defaults. */
export function readExporterOptions(
  options: OTLPExporterOptions,
): ExporterSettings {
  const { batch = {}, clock = REAL_CLOCK, gzip = false } = options;
  const { maxTraces = 100, maxDelay = 5000, maxQueue = 1000 } = batch;
  checkNumber("batch.maxTraces", maxTraces, 1);
  checkNumber("batch.maxDelay", maxDelay, 0);
  checkNumber("batch.maxQueue", maxQueue, 1);
  const headers = readHeaders(options.headers ?? {});
  headers.set("content-type", "application/json");
  if (gzip) headers.set("content-encoding", "gzip");
  return {
    sender: {
      url: readURL(options.url),
      headers,
      resource: readResource(options),
      gzip,
      fetch: options.fetch ?? fetch,
      now: () => clock.now(),
    },
    maxTraces,
    maxDelay,
    maxQueue,
    onError: options.onError ?? ((error) => console.warn(error.message)),
    clock,
  };
}

/** Says nothing about what it received: it may hold a password. */
function readURL(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isHTTP = url?.protocol === "http:" || url?.protocol === "https:";
  if (url === undefined || !isHTTP || url.username || url.password) {
    fail("url must be an http(s) address without a user name", "another text");
  }
  if (url.pathname === "/") url.pathname = "/v1/traces";
  url.hash = "";
  return url;
}

/** The service: what it is called, and what else is known of it. */
function readResource(
  { serviceName, resource = {} }: OTLPExporterOptions,
): readonly OTLPKeyValue[] {
  for (const [key, value] of Object.entries(resource)) {
    if (isAttribute(value)) continue;
    fail(
      `resource ${JSON.stringify(key)} must be a text, a finite number or a ` +
        "boolean",
      describe(value),
    );
  }
  return toKeyValues({
    // The conventions demand a name.
    "service.name": "unknown_service",
    ...resource,
    ...(serviceName !== undefined && { "service.name": serviceName }),
  });
}

function isAttribute(value: unknown): value is AttributeValue {
  return typeof value === "string" || typeof value === "boolean" ||
    Number.isFinite(value);
}

/** Names the header that is wrong, never its value. */
function readHeaders(values: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(values)) {
    try {
      headers.set(name, value);
    } catch {
      fail(
        `header ${JSON.stringify(name)} must have a name and a value that ` +
          "HTTP allows",
        "others",
      );
    }
  }
  return headers;
}

function checkNumber(name: string, value: number, least: number): void {
  if (Number.isInteger(value) && value >= least && value <= MAX_TIMER) return;
  fail(`${name} must be a whole number from ${least}`, describe(value));
}

function fail(what: string, received: string): never {
  throw new TypeError(
    `Cannot create an OTLP exporter: ${what}, received ${received}`,
  );
}
