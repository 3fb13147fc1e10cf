import { runOutside } from "../../core/request_scope.ts";
import {
  checkOptions,
  checkValue,
  type OptionRules,
} from "../../core/check/options.ts";
import { aFunction, rule } from "../../core/check/rules.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { methodNotAllowed } from "../../core/error_response.ts";
import type { TraceData, Tracer } from "../types.ts";
import { type Authorize, refuse, ruleOf } from "./access.ts";

/** The page takes 11 ms to load, so it is loaded on demand. */
const loadPage = () => runOutside(() => import("./viewer_page.ts"));

/** Options of the viewer. */
export interface ViewerOptions {
  /**
   * Decides who may open it. `access` is `read`. Default: requests from this
   * machine, and nobody in production.
   */
  readonly authorize?: Authorize;
}

const someTraces = rule(
  "the result of createTracer(), or an array of its traces",
  (value) =>
    Array.isArray(value)
      ? value.every((trace) => trace?.spans instanceof Map)
      : typeof Object(value).getTraces === "function",
);

const OPTIONS: OptionRules<ViewerOptions> = { authorize: aFunction };

/**
 * Creates the handler of the viewer's page, which shows traces live. Mount it
 * at `/__app/traces`, or use `tracePlugin`, which does. The page requests `api`
 * and `ws` below its own path.
 *
 * @param options Access to the page.
 * @returns The handler. Pass it the `info` of `Deno.serve`.
 * @throws {TypeError} If `authorize` isn't a function.
 *
 * @example
 * ```ts
 * import { createViewerHandler } from "@quartet/kit/trace";
 *
 * const handler = createViewerHandler({ authorize: () => true });
 * const response = await handler(new Request("http://localhost/__app/traces"));
 * console.assert(response.headers.get("content-type")!.startsWith("text/html"));
 * ```
 */
export function createViewerHandler(
  options: ViewerOptions = {},
): (request: Request, info?: ConnectionInfo) => Promise<Response> {
  checkOptions(options, OPTIONS, "create viewer handler");
  const rule = ruleOf(options.authorize);

  return async (request, info) => {
    const refusal = await refuse(rule, request, info, "read");
    if (refusal !== undefined) return refusal;
    if (request.method === "GET" || request.method === "HEAD") {
      const { headers, page } = await loadPage();
      return new Response(request.method === "GET" ? page : null, { headers });
    }
    const message = `The viewer allows GET and HEAD, not ${request.method}`;
    return methodNotAllowed(message, "GET, HEAD");
  };
}

/**
 * Returns the viewer's page. With traces, it is one file that opens offline and
 * loads nothing. Without traces, it loads them from its server.
 *
 * @param traces The traces to show, in any order.
 * @returns The page.
 * @throws {TypeError} If they aren't the traces of a tracer.
 *
 * @example
 * ```ts
 * import { createTracer, generateViewerHTML } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * tracer.withSpan("job", "custom", () => {});
 *
 * const html = await generateViewerHTML(tracer.getTraces());
 * console.assert(html.startsWith("<!DOCTYPE html>"));
 * ```
 */
export async function generateViewerHTML(
  traces?: readonly TraceData[],
): Promise<string> {
  return traces === undefined
    ? (await loadPage()).page
    : await exportTracesHTML(traces);
}

/**
 * Exports traces as one HTML file: the viewer with the traces inside, which opens
 * offline.
 *
 * @param traces The traces, or the tracer that keeps them.
 * @returns The file's text.
 * @throws {TypeError} If the argument is neither.
 *
 * @example
 * ```ts
 * import { createTracer, exportTracesHTML } from "@quartet/kit/trace";
 *
 * const tracer = createTracer();
 * tracer.withSpan("job", "custom", () => {});
 *
 * const file = await Deno.makeTempFile({ suffix: ".html" });
 * await Deno.writeTextFile(file, await exportTracesHTML(tracer));
 * // One trace.
 * const html = await exportTracesHTML(tracer.getTraces().slice(0, 1));
 * await Deno.remove(file);
 * ```
 */
export async function exportTracesHTML(
  traces: Pick<Tracer, "getTraces"> | readonly TraceData[],
): Promise<string> {
  checkValue(traces, "traces", someTraces, "export traces");
  const { pageWith } = await loadPage();
  return await pageWith("getTraces" in traces ? traces.getTraces() : traces);
}
