/**
 * The responses of the traces API.
 *
 * @module
 */

import { errorResponse } from "../../core/error_response.ts";
import { PRIVATE_HEADERS } from "../../core/http/private_headers.ts";
import { type BodyError, readBodyJSON } from "../../core/http/read_body.ts";
import { isLayer, LAYERS, metadataOf, wasSent } from "../export/semantics.ts";
import type { Collector } from "../record/collector.ts";
import { serializeTrace } from "../serialize.ts";
import type { SpanData, TraceData, TraceMetadata, Tracer } from "../types.ts";
import { helpText, wantsHelp } from "./api_help.ts";

/** Maximum bytes of a `POST`. */
const MAX_BODY = 256 * 1024;

/** Answers a `GET`: with one trace, or all that the query selects. */
export function read(tracer: Tracer, request: Request): Response {
  const query = new URL(request.url).searchParams;
  if (wantsHelp(request, query)) {
    return new Response(helpText(tracer), {
      headers: {
        ...PRIVATE_HEADERS,
        "content-type": "text/plain; charset=utf-8",
      },
    });
  }
  const id = query.get("id");
  if (id !== null) {
    const trace = tracer.getTrace(id);
    return trace === undefined
      ? errorResponse(404, "NOT_FOUND", "No trace with this id is kept")
      : Response.json(serializeTrace(trace), { headers: PRIVATE_HEADERS });
  }
  const filter = readTraceFilter(query, tracer);
  if (typeof filter === "string") {
    return errorResponse(400, "BAD_REQUEST", filter);
  }
  const found = tracer.getTraces().reverse().filter(filter.matches);
  const traces = found.slice(0, filter.limit).map(serializeTrace);
  return Response.json({ traces, total: found.length }, {
    headers: PRIVATE_HEADERS,
  });
}

/** Answers a `POST` with the spans of a browser. */
export async function collect(
  collector: Collector,
  request: Request,
): Promise<Response> {
  let message: unknown;
  try {
    message = await readBodyJSON(request, MAX_BODY);
  } catch (error) {
    // Mostly from a page that was closed while it sent its last spans.
    const { problem, message } = error as BodyError;
    return problem === "TOO_LARGE"
      ? errorResponse(413, "PAYLOAD_TOO_LARGE", message)
      : errorResponse(400, "PARSE_ERROR", message);
  }
  const result = collector.receive(message);
  const status = result.added === 0 && result.error !== undefined ? 400 : 202;
  // A browser measures the offset of its clock with this time.
  const answer = { ...result, now: Date.now() };
  return Response.json(answer, { status, headers: PRIVATE_HEADERS });
}

/**
 * Parses the query of a `GET`.
 *
 * @returns A test and the maximum of traces, or the problem with the query.
 */
function readTraceFilter(query: URLSearchParams, tracer: Tracer) {
  const traceId = query.get("traceId");
  // The id of a linked trace is another one than of the trace it joined.
  const joinedId = traceId === null ? undefined : tracer.getTrace(traceId)?.id;
  const method = query.get("method")?.toUpperCase();
  const path = query.get("path");
  const status = query.get("status");
  const run = query.get("run");
  const layer = query.get("layer");
  const numbers = { minDuration: 0, after: -Infinity, limit: 100 };
  for (const name of ["minDuration", "after", "limit"] as const) {
    const text = query.get(name);
    if (text === null) continue;
    const value = text.trim() === "" ? NaN : Number(text);
    if (!Number.isFinite(value) || value < 0) {
      return `${name} must be a number of 0 or more, received ${text}`;
    }
    numbers[name] = value;
  }
  if (status !== null && !/^[1-5](\d\d|xx)$/.test(status)) {
    return `status must be a status such as 404 or a class such as 4xx, received ${status}`;
  }
  if (run !== null && !/^(present|\d+)$/.test(run)) {
    return `run must be present, or the start of an earlier run in milliseconds, received ${run}`;
  }
  if (layer !== null && !isLayer(layer)) {
    return `layer must be one of ${LAYERS.join(", ")}, received ${layer}`;
  }

  function isWanted(request: TraceMetadata): boolean {
    return (method === undefined || request.method === method) &&
      (path === null || (request.pathname ?? "").includes(path)) &&
      (status === null ||
        `${request.statusCode}`.startsWith(status.replace("xx", "")));
  }

  function matches(
    { id, metadata, duration, startTime, spans }: TraceData,
  ): boolean {
    const has = (test: (span: SpanData) => boolean) =>
      spans.values().some(test);
    return (traceId === null || id === joinedId) &&
      (run === null || run === String(metadata.run ?? "present")) &&
      (isWanted(metadata) ||
        has((span) =>
          span.layer === "request" && !wasSent(span) &&
          isWanted(metadataOf(span))
        )) &&
      duration >= numbers.minDuration && startTime > numbers.after &&
      (layer === null || has((span) => span.layer === layer));
  }

  return { matches, limit: Math.floor(numbers.limit) };
}
