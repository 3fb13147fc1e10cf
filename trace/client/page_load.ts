import type { BrowserDocument, NavigationTiming } from "./browser.ts";
import type { Layer } from "../types.ts";
import { now } from "./clock.ts";
import { isCached, linkOf } from "./resources.ts";
import { addSpan, type Root } from "./roots.ts";

declare const document: BrowserDocument;

/** Returns the navigation's timing. Empty if the browser doesn't support it. */
export function navigationTiming(): NavigationTiming {
  return Object(performance.getEntriesByType("navigation")[0]);
}

/**
 * Finds the server's request for the page: in a meta element, in
 * `window.__APP_TRACE_ID__`, or in the header `Server-Timing`.
 *
 * @returns The trace id, and the `traceparent` if it is known. Nothing if the
 * request wasn't traced, or if the page came from a cache.
 */
export function findPageTrace(): (string | undefined)[] {
  const timing = navigationTiming();
  const text =
    document.querySelector("meta[name=traceparent],meta[name=app-trace-id]")
      ?.content ??
      (globalThis as { __APP_TRACE_ID__?: string }).__APP_TRACE_ID__ ??
      linkOf(timing);
  const [, id, span] = /(?:^|-)([\da-f]{32})(-.{19})?$/.exec(`${text}`) ?? [];
  // Firefox knows the sizes later. There, a page from a cache has no request.
  const isKnown = timing.decodedBodySize || !timing.requestStart;
  return isKnown && isCached(timing) ? [] : [id, span && text];
}

/**
 * Records the phases of the page load when the page has loaded.
 *
 * @param page The page load. It doesn't end before that.
 */
export function recordPageLoad(page: Root): void {
  page.opened();
  const record = () => {
    const timing = navigationTiming();
    const add = (name: string, start: number, end: number, layer?: Layer) =>
      addSpan(page, name, start, end, layer);
    add("redirect", timing.redirectStart, timing.redirectEnd);
    add("dns", timing.domainLookupStart, timing.domainLookupEnd);
    add("connect", timing.connectStart, timing.connectEnd);
    add("request", timing.requestStart, timing.responseStart);
    add("response", timing.responseStart, timing.responseEnd);
    add("dom", timing.responseEnd, timing.domComplete, "custom");
    page.closed(now(timing.loadEventEnd));
  };
  // The event's end is only known after the event.
  const loaded = () => setTimeout(record);
  if (document.readyState === "complete") loaded();
  else addEventListener("load", loaded);
}
