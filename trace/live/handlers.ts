import { runOutside } from "../../core/request_scope.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse, methodNotAllowed } from "../../core/error_response.ts";
import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { type Authorize, refuse, ruleOf } from "../http/access.ts";
import { aFunction } from "../../core/check/rules.ts";
import { aCollector, type Collector } from "../record/collector.ts";
import { checkTracer } from "../record/tracer_options.ts";
import type { Tracer } from "../types.ts";
import { pathOf } from "../../core/http/message.ts";

/** Options of the traces API. */
export interface TracesAPIOptions {
  /**
   * Decides who may use the API. `access` is `write` for `POST`, and otherwise
   * `read`. Default: requests from this machine, and nobody in production.
   */
  readonly authorize?: Authorize;
  /** Receives the spans of browsers. Default: `POST` is refused. */
  readonly collector?: Collector;
}

const OPTIONS: OptionRules<TracesAPIOptions> = {
  authorize: aFunction,
  collector: aCollector,
};

/** Most processes never need this code, so it is loaded on demand. */
const loadAnswers = () => runOutside(() => import("./answers.ts"));

/**
 * Creates the handler of the traces API. Mount it at `/__app/traces/api`, or
 * use `tracePlugin`, which does.
 *
 * - `GET` returns `{ traces, total }`, the newest first. The query narrows it:
 *   `traceId`, `method`, `path` (text that the path contains), `status` (`404`
 *   or `4xx`), `layer`, `minDuration` (milliseconds), `after` (epoch
 *   milliseconds), `limit` (default: 100), `run` (`present`, or the start of an
 *   earlier run of the dev command).
 *   `method`, `path` and `status` select a trace if one of its requests matches
 *   all of them.
 * - `GET ?id=…` returns one trace, or 404. A linked id is as good as its own.
 * - `GET ?help` returns this as plain text, as does `Accept: text/plain`.
 * - `POST` receives the spans of a browser, as described at
 *   `Collector.receive`. The response has its result, and the server's time as
 *   `now`, in epoch milliseconds.
 *
 * @param tracer Keeps the traces.
 * @param options Access to the traces.
 * @returns The handler. Pass it the `info` of `Deno.serve`. Without it, the
 * default rule doesn't know the client's address, and refuses the request.
 * @throws {TypeError} If an option is wrong or unknown.
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
  checkTracer(tracer, "create traces API handler", "getTraces");
  checkOptions(options, OPTIONS, "create traces API handler");
  const { authorize, collector } = options;
  const rule = ruleOf(authorize);
  const allow = collector ? "GET, HEAD, POST" : "GET, HEAD";

  return async (request, info) => {
    const { method } = request;
    const kind = method === "POST" ? "write" : "read";
    const refusal = await refuse(rule, request, info, kind);
    if (refusal !== undefined) return refusal;
    if (method === "GET" || method === "HEAD") {
      return (await loadAnswers()).read(tracer, request);
    }
    if (method === "POST" && collector !== undefined) {
      return (await loadAnswers()).collect(collector, request);
    }
    return methodNotAllowed(`Traces take ${allow}, not ${method}`, allow);
  };
}

/** Options of the OTLP receiver. */
export interface OTLPReceiverOptions {
  /**
   * Decides which services may send spans. `access` is `write`. Default:
   * requests from this machine, and nobody in production.
   */
  readonly authorize?: Authorize;
}

const RECEIVER: OptionRules<OTLPReceiverOptions> = { authorize: aFunction };

const SIGNAL = /\/v1\/(traces|logs|metrics)$/;

/** Most processes never need this code, so it is loaded on demand. */
const loadReceiver = () => runOutside(() => import("./otlp_answers.ts"));

/**
 * Creates the handler that receives the spans of other services by OTLP over
 * HTTP, as JSON or protobuf, with or without gzip. Mount it at
 * `/__app/traces/otlp/*`, or use `tracePlugin`, which does. Services need one
 * environment variable:
 * `OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:8000/__app/traces/otlp`.
 *
 * - `POST …/v1/traces` adds the spans to the tracer. Malformed spans are counted
 *   in the response.
 * - `POST …/v1/logs` adds log records to their spans, as events named `log` with
 *   `log.severity` and `log.body`. Records without a span are dropped.
 * - `POST …/v1/metrics` drops the metrics, because exporters send them anyway.
 *
 * Texts are cut and redacted. Cookies, credentials and values of query
 * parameters are left out.
 *
 * @param tracer Keeps the spans.
 * @param options Access to the receiver.
 * @returns The handler. Pass it the `info` of `Deno.serve`. Without it, the
 * default rule doesn't know the client's address, and refuses the request.
 * @throws {TypeError} If an option is wrong or unknown.
 *
 * @example
 * ```ts
 * import { createOTLPReceiver, createTracer, toOTLP } from "@quartet/kit/trace";
 *
 * const handler = createOTLPReceiver(createTracer(), { authorize: () => true });
 * const response = await handler(
 *   new Request("http://localhost/__app/traces/otlp/v1/traces", {
 *     method: "POST",
 *     headers: { "content-type": "application/json" },
 *     body: JSON.stringify(toOTLP([])),
 *   }),
 * );
 * console.assert(response.status === 200);
 * ```
 */
export function createOTLPReceiver(
  tracer: Tracer,
  options: OTLPReceiverOptions = {},
): (request: Request, info?: ConnectionInfo) => Promise<Response> {
  checkTracer(tracer, "create OTLP receiver", "mergeSpans");
  checkOptions(options, RECEIVER, "create OTLP receiver");
  const rule = ruleOf(options.authorize);

  return async (request, info) => {
    const refusal = await refuse(rule, request, info, "write");
    if (refusal !== undefined) return refusal;
    const [, signal] = SIGNAL.exec(pathOf(request.url)) ?? [];
    if (signal === undefined) {
      return errorResponse(
        404,
        "NOT_FOUND",
        "OTLP is received at v1/traces, v1/logs and v1/metrics below this path",
      );
    }
    if (request.method !== "POST") {
      return methodNotAllowed(`OTLP takes POST, not ${request.method}`, "POST");
    }
    return (await loadReceiver()).receive(tracer, request, signal);
  };
}
