/**
 * What OpenTelemetry's semantic conventions (1.44, and the names before 1.20
 * that are still common) say about a span, in our words and back.
 *
 * @module
 */

import type {
  AttributeValue,
  Layer,
  SpanData,
  TraceMetadata,
} from "../types.ts";

type Values = Readonly<Record<string, AttributeValue>>;

/** OTLP's span kinds. */
const KIND = { internal: 1, server: 2, client: 3 } as const;

/**
 * The kind of one of our spans. A request that was sent has the whole URL it
 * was sent to, one that was received only the path; and a browser receives
 * none.
 */
export function kindOf(span: SpanData): 1 | 2 | 3 {
  const { layer, attributes } = span;
  if (layer === "database") return KIND.client;
  if (!Object.hasOwn(attributes, "http.request.method")) return KIND.internal;
  const isSent = Object.hasOwn(attributes, "url.full") ||
    attributes["app.origin"] === "client";
  if (isSent) return KIND.client;
  return layer === "request" ? KIND.server : KIND.internal;
}

/** The layer that another library's span belongs to. */
export function layerOf(isServer: boolean, attributes: Values): Layer {
  const keys = Object.keys(attributes);
  const has = (prefix: string) => keys.some((key) => key.startsWith(prefix));
  if (has("db.")) return "database";
  if (has("rpc.")) return "rpc";
  return isServer && has("http.") ? "request" : "custom";
}

/** What a root span's attributes tell about its trace. */
export function metadataOf(attributes: Values): TraceMetadata {
  const method = text(
    attributes,
    "http.request.method_original",
    "http.request.method",
    "http.method",
  );
  const pathname = text(attributes, "url.path") ??
    pathOf(text(attributes, "url.full", "http.target", "http.url"));
  const statusCode = integer(
    attributes,
    "http.response.status_code",
    "http.status_code",
  );
  const routePattern = text(attributes, "http.route");
  return {
    origin: "server",
    ...(method !== undefined && { method }),
    ...(pathname !== undefined && { pathname }),
    ...(statusCode !== undefined && { statusCode }),
    ...(routePattern !== undefined && { routePattern }),
  };
}

/** Metadata as JSON, with its fields always in the same order. */
export function metadataText(metadata: TraceMetadata): string {
  const { origin, method, pathname, statusCode, routePattern, droppedSpans } =
    metadata;
  return JSON.stringify({
    origin,
    method,
    pathname,
    statusCode,
    routePattern,
    droppedSpans,
  });
}

/** Reads {@linkcode metadataText}; `undefined` if it isn't any. */
export function parseMetadata(json: unknown): TraceMetadata | undefined {
  if (typeof json !== "string") return undefined;
  try {
    return readMetadata(JSON.parse(json));
  } catch {
    return undefined;
  }
}

/** Metadata of parsed JSON; `undefined` if it isn't any. */
export function readMetadata(value: unknown): TraceMetadata | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const values = value as Values;
  const origin = text(values, "origin");
  if (origin !== "server" && origin !== "client") return undefined;
  const method = text(values, "method");
  const pathname = text(values, "pathname");
  const statusCode = integer(values, "statusCode");
  const routePattern = text(values, "routePattern");
  const droppedSpans = integer(values, "droppedSpans");
  return {
    origin,
    ...(method !== undefined && { method }),
    ...(pathname !== undefined && { pathname }),
    ...(statusCode !== undefined && { statusCode }),
    ...(routePattern !== undefined && { routePattern }),
    ...(droppedSpans !== undefined && { droppedSpans }),
  };
}

function text(values: Values, ...keys: string[]): string | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (typeof value === "string") return value;
  }
  return undefined;
}

function integer(values: Values, ...keys: string[]): number | undefined {
  for (const key of keys) {
    const value = Object.hasOwn(values, key) ? values[key] : undefined;
    if (Number.isInteger(value)) return value as number;
  }
  return undefined;
}

/** The path of a URL or of a request target. */
function pathOf(target: string | undefined): string | undefined {
  if (target === undefined) return undefined;
  try {
    return new URL(target, "http://localhost").pathname;
  } catch {
    return undefined;
  }
}
