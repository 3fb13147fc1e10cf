import { LAYERS } from "../layers.ts";
import type { Layer, TraceData } from "../types.ts";

/** Which traces a caller of the API wants. */
export interface TraceFilter {
  /** Whether a trace is among them. */
  readonly matches: (trace: TraceData) => boolean;
  /** How many of them, at most. */
  readonly limit: number;
}

const DEFAULT_LIMIT = 100;

/**
 * Reads the query of the traces API.
 *
 * @returns The filter, or what is wrong with the query.
 */
export function readTraceFilter(query: URLSearchParams): TraceFilter | string {
  const traceId = query.get("traceId");
  const method = query.get("method")?.toUpperCase();
  const path = query.get("path");
  const status = query.get("status");
  const layer = query.get("layer");
  const minDuration = readNumber(query, "minDuration", 0);
  const after = readNumber(query, "after", -Infinity);
  const limit = readNumber(query, "limit", DEFAULT_LIMIT);
  for (const value of [minDuration, after, limit]) {
    if (typeof value === "string") return value;
  }
  if (status !== null && !/^[1-5](\d\d|xx)$/.test(status)) {
    return `status must be a status such as 404 or a class such as 4xx, received ${status}`;
  }
  if (layer !== null && !LAYERS.includes(layer as Layer)) {
    return `layer must be one of ${LAYERS.join(", ")}, received ${layer}`;
  }

  function matches(
    { id, metadata, duration, startTime, spans }: TraceData,
  ): boolean {
    return (traceId === null || id === traceId) &&
      (method === undefined || metadata.method === method) &&
      (path === null || (metadata.pathname ?? "").includes(path)) &&
      (status === null || hasStatus(metadata.statusCode, status)) &&
      duration >= Number(minDuration) && startTime > Number(after) &&
      (layer === null || spans.values().some((span) => span.layer === layer));
  }

  return { matches, limit: Math.floor(Number(limit)) };
}

function hasStatus(code: number | undefined, wanted: string): boolean {
  const text = String(code);
  return wanted.endsWith("xx") ? text[0] === wanted[0] : text === wanted;
}

function readNumber(
  query: URLSearchParams,
  name: string,
  fallback: number,
): number | string {
  const text = query.get(name);
  if (text === null) return fallback;
  const value = text.trim() === "" ? NaN : Number(text);
  return value >= 0 && Number.isFinite(value)
    ? value
    : `${name} must be a number of 0 or more, received ${text}`;
}
