import { exceptionOf } from "../../trace/export/attributes.ts";
import {
  DETACHED,
  isClientSpan,
  isOpenSpan,
  metadataOf,
} from "../../trace/export/semantics.ts";
import type { SpanData, TraceData, Tracer } from "../../trace/types.ts";

/** A request that a server received, or a job. */
export interface RequestRecord {
  /** Its trace. */
  readonly trace: TraceData;
  /** Its own span. */
  readonly span: SpanData;
  /** The method and route, or the name of a job. */
  readonly route: string;
  /** The HTTP status. `undefined` for jobs. */
  readonly status: number | undefined;
  /** The ended spans below it. Requests in between have their own. */
  readonly below: readonly SpanData[];
}

/** Returns the ended requests and jobs of a tracer, the latest first. */
export function requestsOf(tracer: Tracer): RequestRecord[] {
  return tracer.getTraces().flatMap(requestsIn)
    .sort((a, b) => b.span.startTime - a.span.startTime);
}

/** Returns the ended requests and jobs of a trace. */
export function requestsIn(trace: TraceData): RequestRecord[] {
  const owners = new Map<string, SpanData | undefined>();
  const below = new Map<SpanData, SpanData[]>();
  // Parents come before their children, except for spans of other services.
  for (const span of trace.spans.values()) {
    const parent = trace.spans.get(span.parentId ?? "");
    const owner = isUnit(span, parent) ? span : owners.get(parent?.id ?? "");
    owners.set(span.id, owner);
    if (owner === span) below.set(span, []);
    else if (owner !== undefined && !isOpenSpan(span)) {
      below.get(owner)!.push(span);
    }
  }
  return [...below].filter(([span]) => !isOpenSpan(span)).map(
    ([span, below]) => {
      const { method, statusCode } = metadataOf(span);
      const isRequest = method !== undefined && span.layer === "request";
      const status = isRequest ? statusCode : undefined;
      return { trace, span, route: routeOf(span), status, below };
    },
  );
}

/** Whether a span is a request that a server received, or a job. */
function isUnit(span: SpanData, parent: SpanData | undefined): boolean {
  if (isClientSpan(span) || span.attributes[DETACHED] === true) return false;
  const isReceived = span.layer === "request" &&
    Object.hasOwn(span.attributes, "url.path");
  return isReceived || parent === undefined || isClientSpan(parent);
}

/** Returns the method and route of a request, or the name of a job. */
export function routeOf(span: SpanData): string {
  const { method, pathname, routePattern } = metadataOf(span);
  const path = routePattern ?? pathname;
  return span.layer === "request" && method !== undefined && path !== undefined
    ? `${method} ${path}`
    : span.name;
}

/** Whether a request or job failed. */
export function isFailed({ span, status = 0, below }: RequestRecord): boolean {
  return status >= 500 || [span, ...below].some(isFailedSpan);
}

function isFailedSpan({ status }: SpanData): boolean {
  return status === "error";
}

/** Returns the span that recorded the first exception of a request. */
export function failureOf(
  { span, below }: RequestRecord,
): SpanData | undefined {
  return [span, ...below].find((each) => exceptionOf(each) !== undefined) ??
    [...below, span].find(isFailedSpan);
}

/** Returns the number of queries of a request. */
export function queriesOf({ below }: RequestRecord): number {
  return below.filter(({ layer }) => layer === "database").length;
}
