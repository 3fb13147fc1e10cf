/**
 * Translates between spans and OpenTelemetry's semantic conventions: 1.44, and
 * the names before 1.20 that are still common.
 *
 * @module
 */

import type {
  AttributeValue,
  Layer,
  SpanData,
  TraceMetadata,
} from "../types.ts";
import { type Attributed, attributeText, methodOf } from "./attributes.ts";

type Values = Readonly<Record<string, AttributeValue>>;

/** OTLP's span kinds. */
const KIND = { internal: 1, server: 2, client: 3 } as const;

/** Returns the kind of one of our spans. */
export function spanKind(span: SpanData): 1 | 2 | 3 {
  const { layer, attributes } = span;
  if (layer === "database") return KIND.client;
  if (!Object.hasOwn(attributes, "http.request.method")) return KIND.internal;
  if (wasSent(span)) return KIND.client;
  return layer === "request" ? KIND.server : KIND.internal;
}

/**
 * Attributes for data that OTLP has no field for. Export adds them, and import
 * removes them. Records never contain them.
 */
export const OWN = {
  /** The span's layer. */
  layer: "app.layer",
  /** The span's status, if it is `timeout`. */
  status: "app.status",
  /** The trace's metadata as JSON. It also marks the root span. */
  trace: "app.trace",
} as const;

/** Marks the spans of a browser, with `client`. */
export const ORIGIN_ATTRIBUTE = "app.origin";
/** A `traceparent`: the span that it names becomes a child of this one. */
export const LINK = "app.link";
/**
 * The `traceparent` of a WebSocket's upgrade request, on a subscription. The
 * request becomes a child of the subscription's parent.
 */
export const UPGRADE_LINK = "app.link.upgrade";
/** `true` on a span that hasn't ended. */
export const OPEN = "app.open";
/** `true` on long-lived work, which doesn't count in the trace's duration. */
export const DETACHED = "app.detached";
/** The kind of a browser's root span, such as `load` or `click`. */
export const ACTION = "app.action";
/**
 * The remaining error of a browser's clock, in milliseconds, on its root span.
 */
export const CLOCK_ERROR = "app.clock.error";
/**
 * The milliseconds that joining has added to the times of this span and its
 * process.
 */
export const CLOCK_SHIFT = "app.clock.shift";

/** Whether a span ran in a browser. */
export function isClientSpan(span: Attributed): boolean {
  return span.attributes[ORIGIN_ATTRIBUTE] === "client";
}

/**
 * Whether a request was sent: then it has a full URL, and a received one only a
 * path. A browser receives none.
 */
export function wasSent(span: Attributed): boolean {
  return isClientSpan(span) || Object.hasOwn(span.attributes, "url.full");
}

/** Whether a span hasn't ended. */
export function isOpenSpan(span: Attributed): boolean {
  return span.attributes[OPEN] === true;
}

/**
 * Whether a span waits for its child. A browser's work on a server's response
 * is a child too, but the server doesn't wait for it. Nothing waits for
 * long-lived work.
 */
export function waitsFor(parent: Attributed, child: Attributed): boolean {
  return child.attributes[DETACHED] !== true &&
    (isClientSpan(parent) || !isClientSpan(child));
}

/** Returns the layer of another library's span. */
export function layerOf(isServer: boolean, attributes: Values): Layer {
  const keys = Object.keys(attributes);
  const has = (prefix: string) => keys.some((key) => key.startsWith(prefix));
  if (has("db.")) return "database";
  if (has("rpc.")) return "rpc";
  return isServer && has("http.") ? "request" : "custom";
}

/** Returns the metadata of a trace from its root span's attributes. */
export function metadataOf(span: Attributed): TraceMetadata {
  return readMetadata({
    origin: "server",
    method: methodOf(span),
    pathname: attributeText(span, "url.path") ??
      pathOf(attributeText(span, "url.full", "http.target", "http.url")),
    statusCode: Number(
      attributeText(span, "http.response.status_code", "http.status_code"),
    ),
    routePattern: attributeText(span, "http.route"),
  })!;
}

const isText = (value: unknown) => typeof value === "string";

/** The fields of metadata, and whether they may have a value. */
const FIELDS: Readonly<
  Record<keyof TraceMetadata, (value: unknown) => boolean>
> = {
  origin: (value) => value === "server" || value === "client",
  method: isText,
  pathname: isText,
  statusCode: Number.isInteger,
  routePattern: isText,
  droppedSpans: Number.isInteger,
  run: Number.isInteger,
};

const RULES = Object.entries(FIELDS);

/** Returns metadata as JSON, with its fields always in the same order. */
export function metadataText(metadata: TraceMetadata): string {
  return JSON.stringify(metadata, Object.keys(FIELDS));
}

/** Reads {@linkcode metadataText}. `undefined` if the text isn't metadata. */
export function parseMetadata(json: unknown): TraceMetadata | undefined {
  try {
    return readMetadata(JSON.parse(json as string));
  } catch {
    return undefined;
  }
}

/** Reads metadata from parsed JSON. `undefined` if it isn't metadata. */
export function readMetadata(value: unknown): TraceMetadata | undefined {
  const values = Object(value);
  if (!FIELDS.origin(values.origin)) return undefined;
  const metadata: TraceMetadata & Record<string, AttributeValue> = {
    origin: values.origin,
  };
  for (const [key, isValid] of RULES) {
    if (isValid(values[key])) metadata[key] = values[key];
  }
  return metadata;
}

/** Returns the path of a URL or request target. */
function pathOf(target: string | undefined): string | undefined {
  const base = "http://localhost";
  return target !== undefined && URL.canParse(target, base)
    ? new URL(target, base).pathname
    : undefined;
}
