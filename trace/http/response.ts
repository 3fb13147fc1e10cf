/**
 * Adds trace headers to a response, and detects when its body has been sent.
 *
 * @module
 */

import type { ResponseFacts } from "../../core/http/cache_control.ts";
import {
  copyResponse,
  dropTraceTiming,
  editHeaders,
  hasHeader,
  TRACE_ID,
  withoutTraceHeaders,
} from "../../core/http/message.ts";
import { type RequestScope, runInScope } from "../../core/request_scope.ts";
import { isDevCommand } from "../../core/runtime/environment.ts";
import type { Span } from "../types.ts";
import { formatTraceparent } from "../trace_context.ts";

/** The part of a request that tracing reads. */
type RequestHeaders = Pick<Request, "headers">;

/**
 * Returns the response with trace headers, which are set in place if possible.
 *
 * @param facts The facts in its headers. It's marked if it has a trace id.
 * @param request Its request.
 */
export function withTraceHeaders(
  response: Response,
  { type, isShared, isMarked }: ResponseFacts,
  span: Span,
  request: RequestHeaders,
): Response {
  // A shared cache would send one visitor's trace to all others. The dev command
  // has no cache in front.
  if (isShared && !isDevCommand()) return withoutTraceHeaders(response);
  const total = totalOf(span.elapsed());
  const timing = needsLink(type, request)
    ? `trace;desc=${formatTraceparent(span)}, ${total}`
    : total;
  return editHeaders(response, (headers) => {
    headers.set(TRACE_ID, span.traceId);
    // The response already has the headers, for example because a handler keeps
    // it.
    if (isMarked) dropTraceTiming(headers);
    headers.append("server-timing", timing);
  });
}

/**
 * Whether `Server-Timing` must name the trace. Pages read it for documents and
 * resources, which can't send `traceparent`.
 */
function needsLink(type: string | null, { headers }: RequestHeaders): boolean {
  // Pages receive these through `fetch`, as a rule.
  const isData = type === null || type.startsWith("text/plain") ||
    type.startsWith("application/json");
  // Only browsers send this header. Reading it costs less than the entry.
  if (isData && !hasHeader(headers, "sec-fetch-mode")) return false;
  // A proxy may trace the requests for documents.
  return !hasHeader(headers, "traceparent") ||
    !isData && headers.get("sec-fetch-mode") === "navigate";
}

/** The entries for 0.000 to 0.999 ms, created on demand. */
const SHORT_TOTALS = new Array<string | undefined>(1000);

/**
 * Returns the entry with the duration. The table of times below a millisecond
 * saves 0.8 µs for each request: a new string must be copied before it is sent.
 */
function totalOf(milliseconds: number): string {
  const microseconds = Math.round(milliseconds * 1000);
  return microseconds < SHORT_TOTALS.length
    ? SHORT_TOTALS[microseconds] ??= formatTotal(microseconds / 1000)
    : formatTotal(milliseconds);
}

function formatTotal(milliseconds: number): string {
  return `total;dur=${milliseconds.toFixed(3)}`;
}

const STREAM_TYPES =
  /^(text\/event-stream|application\/(x-ndjson|jsonl|json-seq)|multipart\/x-mixed-replace)/i;

/** Whether bodies of a content type are streams. */
export function isStreamType(type: string | null): boolean {
  return type !== null && STREAM_TYPES.test(type);
}

/**
 * Returns the response with a body that reports its end, once, with the error if
 * it fails. The body is produced in `scope`, so that a generator records in its
 * request.
 */
export function onBodyEnd(
  response: Response,
  scope: RequestScope,
  onSent: () => void,
  onCutOff: (error?: unknown) => void,
): Response {
  const { body } = response;
  if (body === null) {
    onSent();
    return response;
  }
  const reader = body.getReader();
  const reported = new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      try {
        const { done, value } = await runInScope(scope, () => reader.read());
        if (!done) return controller.enqueue(value);
        controller.close();
        onSent();
      } catch (error) {
        controller.error(error);
        onCutOff(error);
      }
    },
    async cancel(reason) {
      onCutOff();
      await reader.cancel(reason);
    },
  }, { highWaterMark: 0 });
  return copyResponse(response, reported);
}
