/**
 * Requests of the page that carry `traceparent`.
 *
 * @module
 */

import type { BrowserDocument } from "./browser.ts";
import { createTrace, openSpan, type Roots } from "./roots.ts";
import type { Sender } from "./sender.ts";

declare const document: BrowserDocument;

/** A running request. */
export interface OpenRequest {
  /** The header to send. */
  readonly traceparent: string;
  /**
   * Records the response.
   *
   * @param headers The response headers, or the id of the trace in them.
   */
  respond(status: number, headers: string | null): void;
  /** Records an error, or without one, that the page has aborted the request. */
  fail(error?: unknown): void;
}

/** Opens the spans of requests. */
export interface Requests {
  /**
   * Whether requests to a URL carry `traceparent`.
   *
   * @throws {TypeError} If the URL is invalid.
   */
  isTraced(url: string | URL): boolean;
  open(kind: string, method: string, url: string | URL): OpenRequest;
}

/**
 * Creates the tracing of requests.
 *
 * @param origins The origins that get `traceparent`.
 * @param sender Takes the spans.
 * @param roots The roots of the page.
 */
export function createRequests(
  origins: readonly string[],
  sender: Sender,
  roots: Roots,
): Requests {
  const parse = (url: string | URL) => new URL(url, document.baseURI);
  return {
    isTraced(url) {
      const { origin, pathname } = parse(url);
      return origins.includes(origin) && !pathname.startsWith("/__app/");
    },
    open(kind, method, url) {
      const path = parse(url).pathname;
      const trace = roots.at(undefined, true) ?? createTrace(sender);
      const span = openSpan(trace, `${kind} ${method} ${path}`, "request", {
        attributes: { "http.request.method": method, "url.path": path },
      });
      return {
        traceparent: `00-${trace.id}-${span.id}-01`,
        respond(status, headers) {
          span.setAttribute("http.response.status_code", status);
          if (status >= 400) {
            // OpenTelemetry: for clients, 4xx is an error too.
            span.setAttribute("error.type", `${status}`);
            span.error();
          }
          span.end();
          // Without its id, the server may not have recorded the trace.
          sender.isTracing = !!headers?.includes(trace.id);
          if (sender.isTracing) sender.confirm(trace);
        },
        fail(error) {
          trace.isConfirmed = true;
          if (error) span.error(error);
          else span.event("fetch.aborted");
          span.end();
        },
      };
    },
  };
}
