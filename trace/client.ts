/**
 * The browser's half of a trace.
 *
 * In a page whose server traces, `initClientTracing` makes the browser's spans
 * part of the server's traces: each `fetch` is the parent of the request that
 * it causes, and how the page was loaded, and whatever else is recorded there,
 * is part of the trace of the page's own request. Times are moved to the
 * server's clock.
 *
 * It needs no settings: the server sends the page its trace in the header
 * `Server-Timing`. Where that header gets lost, use
 * `<meta name="app-trace-id" content="…">` or `window.__APP_TRACE_ID__`. With a
 * server that doesn't trace, nothing is sent, and no error shows.
 *
 * Without a page, as on a server, all functions can be called and do nothing.
 *
 * @example
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
