import { page } from "../../viewer/dist/page.ts";
import type { ConnectionInfo } from "../../core/context.ts";
import { errorResponse } from "../../core/error_response.ts";
import {
  checkOptions,
  type OptionRules,
} from "../../core/check/check_options.ts";
import type { Authorize } from "./access.ts";
import { type AccessControl, createAccessControl } from "./access_control.ts";
import { insertTraceData } from "../export/html.ts";
import { packTraces } from "../export/pack.ts";
import { serializeTrace } from "../serialize.ts";
import type { TraceData, Tracer } from "../types.ts";

/** Settings of the viewer. */
export interface ViewerOptions {
  /**
   * Decides who may open it. `access` is `read`. Default: requests from this
   * machine, and nobody in production.
   */
  readonly authorize?: Authorize;
}

const OPTIONS: OptionRules<ViewerOptions> = { authorize: true };

/** Characters of JSON from which on the page's traces are compressed. */
const PACK_FROM = 32 * 1024;

/**
 * The policy that the page itself states: only its own script and style, by
 * their hashes, and no address but its own.
 */
const POLICY = /"Content-Security-Policy" content="([^"]+)"/.exec(page)![1]!;

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `${POLICY}; frame-ancestors 'none'`,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "cache-control": "no-store",
};

/**
 * Makes the handler of the viewer's page, which shows traces as they come in.
 * Mount it at `/__app/traces`, or use `tracePlugin`, which does: the page asks
 * for `api` and `ws` below its own address.
 *
 * @param options Who may open it.
 * @returns The handler. Hand on the `info` that `Deno.serve` gives.
 * @throws {TypeError} If `authorize` is not a function.
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
  const { authorize } = options;
  const access = createAccessControl("create viewer handler", authorize);
  access.warn();
  return viewerHandler(access);
}

/** Creates the handler without a warning. */
export function viewerHandler(
  access: AccessControl,
): (request: Request, info?: ConnectionInfo) => Promise<Response> {
  return async (request, info) => {
    const refusal = await access.refuse(request, info, "read");
    if (refusal !== undefined) return refusal;
    if (request.method === "GET") {
      return new Response(page, { headers: HEADERS });
    }
    if (request.method === "HEAD") {
      return new Response(null, { headers: HEADERS });
    }
    return errorResponse(
      405,
      "METHOD_NOT_ALLOWED",
      `The viewer takes GET, HEAD, not ${request.method}`,
      { allow: "GET, HEAD" },
    );
  };
}

/**
 * Makes the viewer's page. With traces it is complete in itself: one file that
 * opens offline and loads nothing from anywhere. Without, it is the page that
 * asks the server it came from.
 *
 * @param traces The traces to show, in any order.
 * @returns The page.
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
  if (traces === undefined) return page;
  const serialized = traces.map(serializeTrace);
  const json = JSON.stringify(serialized);
  return insertTraceData(
    page,
    json.length < PACK_FROM
      ? { encoding: "json", text: json }
      : { encoding: "packed", text: await packTraces(serialized) },
  );
}

/**
 * Exports the traces of a tracer as one HTML file: the viewer with the traces
 * inside, to be sent to a colleague and opened offline.
 *
 * @param tracer Keeps the traces.
 * @returns The file's text.
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
 * await Deno.remove(file);
 * ```
 */
export function exportTracesHTML(tracer: Tracer): Promise<string> {
  return generateViewerHTML(tracer.getTraces());
}
