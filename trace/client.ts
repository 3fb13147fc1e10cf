/**
 * Tracing in browsers. {@linkcode initClientTracing} joins the page's spans to the
 * server's traces: each `fetch` becomes the parent of the request that it causes.
 * Times are converted to the server's clock.
 *
 * No configuration needed: the server sends the trace id of the page in the header
 * `Server-Timing`. If a proxy removes that header, put the id into
 * `<meta name="app-trace-id" content="…">` or `window.__APP_TRACE_ID__`. If the
 * server doesn't trace, nothing is sent and no error appears.
 *
 * On a server, nothing is traced: functions only run your code.
 *
 * @example Trace a page
 * ```ts
 * import { initClientTracing } from "@quartet/kit/trace/client";
 *
 * const tracer = initClientTracing();
 * const total = tracer.withSpan("hydrate:Cart", "islands", (span) => {
 *   span.setAttribute("items", 3);
 *   return 1 + 2 + 3;
 * });
 * console.assert(total === 6);
 * ```
 *
 * @module
 */

import { ClientTracer, type ClientTracingOptions } from "./client/tracer.ts";

export { ClientSpan, type ClientSpanOptions } from "./client/span.ts";
export { ClientTracer, type ClientTracingOptions } from "./client/tracer.ts";
export type { Attributes, AttributeValue, Layer } from "./types.ts";

let current: ClientTracer | undefined;

/**
 * Starts tracing in the page: patches `fetch`, records how the page is loaded,
 * and sends it all to the server. When it was started before, nothing happens.
 *
 * A request that already has a `traceparent` is left alone, and so is one to
 * another origin that is not listed. If the server redirects a request to
 * another origin, the browser takes `traceparent` along, as any header.
 *
 * @param options Where to send, and which other origins to trace.
 * @returns The tracer of the page.
 * @throws {TypeError} If an option is unknown.
 *
 * @example
 * ```ts
 * import { getClientTracer, initClientTracing } from "@quartet/kit/trace/client";
 *
 * const tracer = initClientTracing({ trustedOrigins: ["https://api.example.com"] });
 * console.assert(initClientTracing() === tracer);
 * console.assert(getClientTracer() === tracer);
 * ```
 */
export function initClientTracing(
  options?: ClientTracingOptions,
): ClientTracer {
  return current ??= new ClientTracer(options);
}

/**
 * Returns the tracer of the page, if tracing was started.
 *
 * @example
 * ```ts
 * import { getClientTracer } from "@quartet/kit/trace/client";
 *
 * const sort = () => [3, 1, 2].sort();
 * const sorted = getClientTracer()?.withSpan("sort", "custom", sort) ?? sort();
 * console.assert(sorted[0] === 1);
 * ```
 */
export function getClientTracer(): ClientTracer | undefined {
  return current;
}
