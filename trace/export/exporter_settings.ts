import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { kindOf, show } from "../../core/check/show.ts";
import { withoutSource } from "../../core/redact/without_source.ts";
import { checkCount, checkFunction, checkMethods } from "../record/check.ts";
import type { AttributeValue } from "../types.ts";
import type {
  OTLPBatchOptions,
  OTLPExporterOptions,
  OTLPExporterTimers,
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
  readonly timers: OTLPExporterTimers;
}

const OPTIONS: OptionRules<OTLPExporterOptions> = {
  url: true,
  headers: true,
  serviceName: true,
  resource: true,
  batch: true,
  gzip: true,
  onError: true,
  fetch: true,
  timers: true,
};

const BATCH: OptionRules<OTLPBatchOptions> = {
  maxTraces: true,
  maxDelay: true,
  maxQueue: true,
};

const REAL_TIMERS: OTLPExporterTimers = {
  now: () => Date.now(),
  after: (delay, fn) => {
    const timer = setTimeout(fn, delay);
    return () => clearTimeout(timer);
  },
  random: () => Math.random(),
};

const CREATE = "create OTLP exporter";

/** The longest delay that timers can tell from none: 31 bits. */
const MAX_TIMER = 2 ** 31 - 1;

/** Checks the options and fills in the defaults. */
export function readExporterOptions(
  options: OTLPExporterOptions,
): ExporterSettings {
  checkOptions(options, OPTIONS, CREATE);
  checkOptions(options.batch ?? {}, BATCH, CREATE, "batch");
  const { batch = {}, timers = REAL_TIMERS, gzip = false } = options;
  const { maxTraces = 100, maxDelay = 5000, maxQueue = 1000 } = batch;
  checkCount(CREATE, "batch.maxTraces", maxTraces);
  checkDelay("batch.maxDelay", maxDelay);
  checkCount(CREATE, "batch.maxQueue", maxQueue);
  checkFunction(CREATE, "onError", options.onError);
  checkFunction(CREATE, "fetch", options.fetch);
  checkMethods(CREATE, "timers", timers, ["now", "after", "random"]);
  const headers = readHeaders(options.headers ?? {});
  headers.set("content-type", "application/json");
  if (gzip) headers.set("content-encoding", "gzip");
  return {
    sender: {
      url: readURL(options.url),
      headers,
      resource: readResource(options),
      gzip,
      // Looked up late: tests and other libraries put theirs in its place.
      fetch: options.fetch ??
        ((input, init) => globalThis.fetch(input, init)),
      now: () => timers.now(),
    },
    maxTraces,
    maxDelay,
    maxQueue,
    onError: options.onError ??
      ((error) => console.warn(withoutSource(error.message))),
    timers,
  };
}

/** Says of what it received only what is wrong: it may hold a password. */
function readURL(text: unknown): URL {
  const refuse = (received: string) =>
    fail("url must be an http(s) address without a user name", received);
  const url = URL.parse(String(text));
  if (url === null) {
    return refuse(
      typeof text === "string" ? "a text that is no address" : kindOf(text),
    );
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return refuse("an address of another kind");
  }
  if (url.username || url.password) return refuse("one with a user name");
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
      show(value),
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

function checkDelay(name: string, value: unknown): void {
  if (
    Number.isSafeInteger(value) && Number(value) >= 0 &&
    Number(value) <= MAX_TIMER
  ) return;
  fail(
    `${name} must be a whole number of milliseconds from 0 to ${MAX_TIMER}`,
    show(value),
  );
}

function fail(what: string, received: string): never {
  throw new TypeError(`Cannot ${CREATE}: ${what}, received ${received}`);
}
