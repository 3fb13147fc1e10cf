/**
 * Facts about a trace that a list shows and filters by, without its spans.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../types.ts";
import { attributeText, methodOf, statementOf } from "./attributes.ts";
import {
  ACTION,
  isClientSpan,
  isOpenSpan,
  linksOf,
  metadataOf,
  wasSent,
} from "./semantics.ts";
import { statementShape } from "./statement_shape.ts";

/** A request of a trace. */
export interface RequestSummary {
  /** The HTTP method. */
  readonly method: string;
  /** The path. For a call, the path with the procedure. */
  readonly path: string;
  /** The pattern of the matched route; empty if none matched. */
  readonly route: string;
  /** The HTTP status. 0 if there was none. */
  readonly statusCode: number;
  /** The duration, in milliseconds. */
  readonly duration: number;
  /** Whether it failed: a failed span, or a 5xx answer. */
  readonly failed: boolean;
}

/** Facts about a trace. In the common case, all are absent. */
export interface TraceFacts {
  /** The user's action, such as `load` or `click`. Absent on servers. */
  readonly action?: string;
  /** The trace ids of linked traces that were joined to it. */
  readonly linkedIds?: readonly string[];
  /** The requests, if there are others than the root span. */
  readonly requests?: readonly RequestSummary[];
  /** How often the most frequent statement ran, if that is remarkable. */
  readonly repeats?: number;
  /** The number of spans that haven't ended. */
  readonly running?: number;
}

/** The least number of equal statements that is remarkable. */
export const MIN_REPEATS = 5;

/** Returns the facts about a trace. */
export function factsOf(trace: SerializedTrace): TraceFacts {
  const { spans } = trace;
  const root = spans.find(({ id }) => id === trace.rootSpanId);
  const action = root && isClientSpan(root)
    ? attributeText(root, ACTION)
    : undefined;
  const linkedIds = new Set<string>();
  let running = 0;
  for (const span of spans) {
    linkedIds.add(span.traceId);
    // The linked trace may come later, in another file.
    for (const { traceId } of linksOf(span)) linkedIds.add(traceId);
    if (isOpenSpan(span)) running++;
  }
  linkedIds.delete(trace.id);
  const requests = requestsIn(spans);
  const isAlone = requests.length === 0 ||
    requests.length === 1 && requests[0] === root;
  const repeats = mostRepeats(spans);
  return {
    ...(action !== undefined && { action }),
    ...(linkedIds.size > 0 && { linkedIds: [...linkedIds] }),
    ...(!isAlone && { requests: summarizeRequests(requests, spans) }),
    ...(repeats >= MIN_REPEATS && { repeats }),
    ...(running > 0 && { running }),
  };
}

/**
 * Returns the requests that servers received, and the requests of browsers that
 * no server recorded.
 */
function requestsIn(spans: readonly SpanData[]): SpanData[] {
  const requests = spans.filter((span) =>
    span.layer === "request" && methodOf(span) !== undefined &&
    (isClientSpan(span) || !wasSent(span))
  );
  if (requests.length < 2) return requests;
  const received = requests.filter((span) => !isClientSpan(span));
  const answered = new Set(received.map(({ parentId }) => parentId));
  return requests.filter((span) =>
    !isClientSpan(span) || !answered.has(span.id)
  );
}

function summarizeRequests(
  requests: readonly SpanData[],
  spans: readonly SpanData[],
): RequestSummary[] {
  const failed = failedRequests(requests, spans);
  return requests.map((span) => {
    const { method = "", pathname = span.name, statusCode = 0, routePattern } =
      metadataOf(span);
    return {
      method,
      path: pathWithProcedure(pathname, routePattern),
      route: routePattern ?? "",
      statusCode,
      duration: span.duration,
      failed: statusCode >= 500 || failed.has(span.id),
    };
  });
}

/** Returns the path, or the route that also names the procedure of a call. */
export function pathWithProcedure(path: string, route = ""): string {
  return route.startsWith(`${path}/`) ? route : path;
}

/** Returns the ids of requests with a failed span. */
function failedRequests(
  requests: readonly SpanData[],
  spans: readonly SpanData[],
): ReadonlySet<string> {
  const failed = new Set<string>();
  // Running spans didn't fail.
  const failures = spans.filter((span) =>
    span.status !== "ok" && !isOpenSpan(span)
  );
  if (failures.length === 0) return failed;
  const wanted = new Set(requests.map(({ id }) => id));
  const parents = new Map(spans.map(({ id, parentId }) => [id, parentId]));
  // Also ends at a cycle of parents.
  const visited = new Set<string>();
  for (const { id } of failures) {
    let at: string | null | undefined = id;
    while (at && !visited.has(at) && !wanted.has(at)) {
      visited.add(at);
      at = parents.get(at);
    }
    if (at && wanted.has(at)) failed.add(at);
  }
  return failed;
}

/** Reads facts from parsed JSON. Invalid ones are left out. */
export function readFacts(value: unknown): TraceFacts {
  const { action, linkedIds, requests, repeats, running } = Object(value);
  return {
    ...(typeof action === "string" && { action }),
    ...(isListOf(linkedIds, isText) && { linkedIds }),
    ...(isListOf(requests, isRequest) && { requests }),
    ...(Number.isSafeInteger(repeats) && { repeats }),
    ...(Number.isSafeInteger(running) && { running }),
  };
}

function isListOf<T>(
  value: unknown,
  isItem: (item: unknown) => item is T,
): value is T[] {
  return Array.isArray(value) && value.every(isItem);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

function isRequest(value: unknown): value is RequestSummary {
  const { method, path, route, statusCode, duration, failed } = Object(value);
  return [method, path, route].every(isText) &&
    Number.isSafeInteger(statusCode) && Number.isFinite(duration) &&
    typeof failed === "boolean";
}

/** Returns how often the most frequent statement ran. */
function mostRepeats(spans: readonly SpanData[]): number {
  const queries = spans.filter(({ layer }) => layer === "database");
  if (queries.length < MIN_REPEATS) return 0;
  const statements = queries.map(statementOf)
    .filter((statement) => statement !== undefined);
  let most = 0;
  for (const { length } of Map.groupBy(statements, statementShape).values()) {
    most = Math.max(most, length);
  }
  return most;
}
