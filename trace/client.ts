/**
 * Tracing in browsers. {@linkcode initClientTracing} records page loads,
 * navigations and interactions. The requests that they cause are part of their
 * trace, from the browser to the database. Times are converted to the server's
 * clock.
 *
 * No configuration needed: the server sends the `traceparent` of the page in the
 * header `Server-Timing`. If a proxy removes that header, put it into
 * `<meta name="traceparent" content="…">`. A trace id alone may be in
 * `<meta name="app-trace-id" content="…">`. If the server doesn't trace, nothing
 * is sent and no error appears.
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
 * Starts tracing in the page: patches `fetch` and `WebSocket`, records what the
 * user does, and sends it all to the server. Call it before the page's other
 * code. When it was started before, nothing happens.
 *
 * The root of a trace is a page load, a navigation without a reload, or a click,
 * a submitted form or a key that a request follows within a second. It ends when
 * the page has been idle for a second, or after 30 seconds. The idle second isn't
 * part of it. Labels of elements are recorded, but never what the user types.
 *
 * A request that already has a `traceparent` is left alone, and so is one to
 * another origin that is not listed. If the server redirects a `fetch` to
 * another origin, the browser takes `traceparent` along, as any header. The
 * other origin must allow it by CORS. Otherwise call that origin directly, or
 * set `redirect: "manual"`.
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
