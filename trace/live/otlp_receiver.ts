import { runOutside } from "../../core/request_scope.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse, methodNotAllowed } from "../../core/error_response.ts";
import { checkOptions, type OptionRules } from "../../core/check/options.ts";
import { aFunction } from "../../core/check/rules.ts";
import { pathOf } from "../../core/http/message.ts";
import { type Authorize, refuse, ruleOf } from "../http/access.ts";
import { checkTracer } from "../record/tracer_options.ts";
import type { Tracer } from "../types.ts";

/** Options of the OTLP receiver. */
export interface OTLPReceiverOptions {
  /**
   * Decides which services may send spans. `access` is `write`. Default:
   * requests from this machine, and nobody in production.
   */
  readonly authorize?: Authorize;
}

const OPTIONS: OptionRules<OTLPReceiverOptions> = { authorize: aFunction };

const SIGNAL = /\/v1\/(traces|logs|metrics)$/;

/** Most processes never need this code, so it is loaded on demand. */
const loadAnswers = () => runOutside(() => import("./otlp_answers.ts"));

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
  checkOptions(options, OPTIONS, "create OTLP receiver");
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
    return (await loadAnswers()).receive(tracer, request, signal);
  };
}
