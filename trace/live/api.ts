import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import { type BodyError, readBodyText } from "../../core/http/read_body.ts";
import type { Authorize } from "../http/access.ts";
import {
  type AccessControl,
  createAccessControl,
} from "../http/access_control.ts";
import { aFunction } from "../../core/check/rules.ts";
import { aCollector, type Collector } from "../record/collector.ts";
import { serializeTrace } from "../serialize.ts";
import type { Tracer } from "../types.ts";
import { readTraceFilter } from "./trace_filter.ts";

/** Settings of the traces API. */
export interface TracesAPIOptions {
  /**
   * Decides who may use it. `access` is `write` for `POST`, and otherwise `read`.
   * Default: requests from this machine, and nobody in production.
   */
  readonly authorize?: Authorize;
  /** Takes the spans that browsers post. Default: posting is refused. */
  readonly collector?: Collector;
}

const OPTIONS: OptionRules<TracesAPIOptions> = {
  authorize: aFunction,
  collector: aCollector,
};

/** Bytes that a browser may post at once. */
const MAX_BODY = 256 * 1024;

const HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
};

/**
 * Makes the handler of the traces API. Mount it at `/__app/traces/api`, or use
 * `tracePlugin`, which does.
 *
 * - `GET` gives `{ traces, total }`, the newest first. The query narrows it:
 *   `traceId` (those that share it), `method`, `path` (text that the path
 *   contains), `status` (`404` or `4xx`), `layer`, `minDuration`
 *   (milliseconds), `after` (epoch milliseconds; begun later), `limit`
 *   (default 100).
 * - `GET ?id=…` gives one trace, or 404.
 * - `POST` takes the spans of a browser, as `Collector.receive` describes.
 *
 * @param tracer Keeps the traces.
 * @param options Who may use it.
 * @returns The handler. Hand on the `info` that `Deno.serve` gives: without it
 * the default rule can't tell where a request came from, and refuses it.
 * @throws {TypeError} If an option is of the wrong kind.
 *
 * @example
 * ```ts
 * import { createTracer, createTracesAPIHandler } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * tracer.startTrace("GET /").end();
 *
 * const handler = createTracesAPIHandler(tracer, { authorize: () => true });
 * const response = await handler(new Request("http://localhost/?limit=10"));
 * console.assert((await response.json()).total === 1);
 * ```
 */
export function createTracesAPIHandler(
  tracer: Tracer,
  options: TracesAPIOptions = {},
): (request: Request, info?: ConnectionInfo) => Promise<Response> {
  checkOptions(options, OPTIONS, "create traces API handler");
  const { authorize, collector } = options;
  const access = createAccessControl(authorize);
  access.warn();
  return tracesAPIHandler(tracer, access, collector);
}

/** Creates the handler without a warning. */
export function tracesAPIHandler(
  tracer: Tracer,
  access: AccessControl,
  collector: Collector | undefined,
): (request: Request, info?: ConnectionInfo) => Promise<Response> {
  const allow = collector ? "GET, HEAD, POST" : "GET, HEAD";

  return async (request, info) => {
    const kind = request.method === "POST" ? "write" : "read";
    const refusal = await access.refuse(request, info, kind);
    if (refusal !== undefined) return refusal;
    switch (request.method) {
      case "GET":
      case "HEAD":
        return read(tracer, new URL(request.url).searchParams);
      case "POST":
        if (collector !== undefined) return await collect(collector, request);
    }
    const message = `Traces take ${allow}, not ${request.method}`;
    return errorResponse(405, "METHOD_NOT_ALLOWED", message, { allow });
  };
}

function read(tracer: Tracer, query: URLSearchParams): Response {
  const id = query.get("id");
  if (id !== null) {
    const trace = tracer.getTrace(id);
    return trace === undefined
      ? errorResponse(404, "NOT_FOUND", "No trace with this id is kept")
      : Response.json(serializeTrace(trace), { headers: HEADERS });
  }
  const filter = readTraceFilter(query);
  if (typeof filter === "string") {
    return errorResponse(400, "BAD_REQUEST", filter);
  }
  const found = tracer.getTraces().reverse().filter(filter.matches);
  const traces = found.slice(0, filter.limit).map(serializeTrace);
  return Response.json({ traces, total: found.length }, { headers: HEADERS });
}

async function collect(
  collector: Collector,
  request: Request,
): Promise<Response> {
  let text: string;
  try {
    text = await readBodyText(request, MAX_BODY);
  } catch (error) {
    // Most often a page that was closed while it sent its last spans.
    const { problem, message } = error as BodyError;
    return problem === "TOO_LARGE"
      ? errorResponse(413, "PAYLOAD_TOO_LARGE", message)
      : errorResponse(400, "PARSE_ERROR", message);
  }
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return errorResponse(400, "PARSE_ERROR", "The body must be JSON");
  }
  const result = collector.receive(message);
  const status = result.added === 0 && result.error !== undefined ? 400 : 202;
  return Response.json(result, { status, headers: HEADERS });
}
