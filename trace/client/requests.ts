/**
 * Requests of the page that carry `traceparent`.
 *
 * @module
 */

import type { BrowserDocument } from "./browser.ts";
import { type ClientTrace, createTrace, findRoot, openSpan } from "./roots.ts";
import { confirm, origins } from "./sender.ts";
import type { ClientSpan } from "./span.ts";

declare const document: BrowserDocument;

/**
 * Records the end of a request.
 *
 * @param status The status of the response, if there is one.
 * @param headers The response headers, or the id of the trace in them.
 * @param error The error. Without one and without a response, the page has
 * aborted the request.
 */
export type EndRequest = (
  status: number | undefined,
  headers: string | null,
  error?: unknown,
) => void;

/**
 * Returns the path of a URL whose requests carry `traceparent`.
 *
 * @throws {TypeError} If the URL is invalid.
 */
export function tracedPath(url: string | URL): string | false {
  const { origin, pathname } = new URL(url, document.baseURI);
  return origins.includes(origin) && !pathname.startsWith("/__app/") &&
    pathname;
}

/** Returns the active root, or a trace for a single request. */
export function requestTrace(): ClientTrace {
  return findRoot(true) ?? createTrace();
}

/** Returns the header that makes a request a child of a span. */
export function traceparentOf({ traceId, id }: ClientSpan): string {
  return `00-${traceId}-${id}-01`;
}

/** Opens the span of a request. */
export function openRequest(
  kind: string,
  method: string,
  path: string,
): [traceparent: string, end: EndRequest] {
  const trace = requestTrace();
  const span = openSpan(trace, `${kind} ${method} ${path}`, "request", {
    attributes: { "http.request.method": method, "url.path": path },
  });
  return [traceparentOf(span), (status, headers, error) => {
    if (status !== undefined) {
      span.setAttribute("http.response.status_code", status);
      // OpenTelemetry: for clients, 4xx is an error too.
      if (status >= 400) {
        span.setAttribute("error.type", `${status}`);
        span.error();
      }
      // Without its id, the server may not have recorded the trace.
      confirm(trace, headers?.includes(trace.id));
    } else {
      trace.isKnown = true;
      if (error) span.error(error);
      else span.event("fetch.aborted");
    }
    span.end();
  }];
}
