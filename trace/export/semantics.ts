/**
 * Reads and writes the attributes of spans: OpenTelemetry's semantic conventions
 * 1.44, the names before 1.20 that are still common, links to other spans, and
 * the kit's layers.
 *
 * @module
 */

import { parseTraceparent } from "../trace_context.ts";
import type {
  AttributeValue,
  Layer,
  SpanData,
  SpanStatus,
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
const DETACHED = "app.detached";
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
 * Whether a request was sent: then it has a full URL, and a received one has a
 * path. A browser receives none.
 */
export function wasSent(span: Attributed): boolean {
  const { attributes } = span;
  return isClientSpan(span) ||
    Object.hasOwn(attributes, "url.full") &&
      !Object.hasOwn(attributes, "url.path");
}

/** Whether a span is a request that a server received. */
export function isReceivedRequest(span: SpanData): boolean {
  return span.layer === "request" && methodOf(span) !== undefined &&
    !wasSent(span);
}

/** Whether a span is long-lived work, which isn't part of the trace's total. */
export function isDetached({ attributes }: Attributed): boolean {
  return attributes[DETACHED] === true;
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
  return !isDetached(child) && (isClientSpan(parent) || !isClientSpan(child));
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

/** The ids of a `traceparent`. */
export interface SpanReference {
  readonly traceId: string;
  readonly spanId: string;
}

/** Parses a link. `undefined` if it isn't a `traceparent`. */
export function parseLink(value: unknown): SpanReference | undefined {
  const link = typeof value === "string" ? parseTraceparent(value) : undefined;
  return link && { traceId: link.traceId, spanId: link.parentId };
}

/** Returns the spans that a span links to. */
export function linksOf({ attributes }: Attributed): SpanReference[] {
  const { [LINK]: link, [UPGRADE_LINK]: upgrade } = attributes;
  // Most spans have none, and long traces are searched for them often.
  if (link === undefined && upgrade === undefined) return [];
  return [link, upgrade].map(parseLink).filter((link) => link !== undefined);
}

/**
 * Returns the metadata of a joined trace.
 *
 * A page load has the metadata of its document's request. A navigation or interaction
 * has the page's path, and the status of its first failed request, or else of
 * its first request.
 *
 * @param spans In order of their start.
 */
export function joinedMetadata(
  root: SpanData,
  spans: readonly SpanData[],
): TraceMetadata {
  if (!isClientSpan(root)) return metadataOf(root);
  const origin = "client";
  const action = root.attributes[ACTION];
  const requests = requestsOf(spans);
  const [first] = requests;
  if (action === undefined || action === "load") {
    // The resources of a page have their own spans above their requests.
    const own = requests.find(({ parentId }) => parentId === root.id);
    const request = own ?? (action === undefined ? first : undefined) ?? root;
    return { ...metadataOf(request), origin };
  }
  const failed = requests.find((span) => (statusOf(span) ?? 0) >= 400);
  const statusCode = statusOf(failed ?? first);
  const pathname = attributeText(root, "url.path");
  return {
    origin,
    ...(pathname !== undefined && { pathname }),
    ...(statusCode !== undefined && { statusCode }),
  };
}

/** The requests that servers received, or else those that the page sent. */
function requestsOf(spans: readonly SpanData[]): SpanData[] {
  const requests = spans.filter((span) =>
    span.layer === "request" && statusOf(span) !== undefined
  );
  const received = requests.filter((span) => !wasSent(span));
  return received.length > 0 ? received : requests;
}

function statusOf(span: SpanData | undefined): number | undefined {
  return span && metadataOf(span).statusCode;
}

/**
 * All layers, roughly in the order of a request. Packed traces store the index of
 * a layer and of a status, so only append: another order would be another file
 * format.
 */
export const LAYERS: readonly Layer[] = [
  "request",
  "routing",
  "data",
  "forms",
  "signals",
  "rpc",
  "database",
  "auth",
  "islands",
  "build",
  "errors",
  "custom",
];

/** All statuses of a span. */
export const STATUSES: readonly SpanStatus[] = ["ok", "error", "timeout"];

/** Whether `value` names a layer. */
export function isLayer(value: unknown): value is Layer {
  return (LAYERS as readonly unknown[]).includes(value);
}
