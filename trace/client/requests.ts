/**
 * The parts that the requests of a page share.
 *
 * @module
 */

import type { BrowserDocument } from "./browser.ts";
import { createTrace, findRoot } from "./roots.ts";
import { origins } from "./sender.ts";
import type { ClientSpan, ClientTrace } from "./span.ts";

declare const document: BrowserDocument;

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
