import type { BrowserDocument, NavigationTiming } from "./browser.ts";
import { now } from "./clock.ts";
import type { Handlers } from "./observe.ts";
import { isCached, linkOf } from "./resources.ts";
import { addSpan, openSpan, type Root } from "./roots.ts";

declare const document: BrowserDocument;

/** The phases of a page load whose timing has a start and an end. */
const PHASES = ["redirect", "connect", "response"] as const;

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
export function findPageTrace(
  timing: NavigationTiming,
): (string | undefined)[] {
  const text =
    document.querySelector("meta[name=traceparent],meta[name=app-trace-id]")
      ?.content ??
      (globalThis as { __APP_TRACE_ID__?: string }).__APP_TRACE_ID__ ??
      linkOf(timing);
  const id = /[\da-f]{32}/.exec(text!)?.[0];
  return isCached(timing) ? [] : [id, id !== text ? text : undefined];
}

/**
 * Records the phases of the page load when the page has loaded.
 *
 * @param page The page load. It doesn't end before that.
 */
export function recordPageLoad(
  page: Root,
  { requestStart, responseStart }: NavigationTiming,
): Handlers {
  const request = openSpan(page, "request", "request", {
    startTime: now(requestStart),
  });
  let isLoaded = false;
  return {
    navigation(timing: NavigationTiming) {
      // Browsers may report it before its end, and twice.
      if (isLoaded || !timing.loadEventEnd) return;
      isLoaded = true;
      for (const name of PHASES) {
        addSpan(page, name, timing[`${name}Start`], timing[`${name}End`]);
      }
      const { domComplete, loadEventEnd, responseEnd } = timing;
      addSpan(page, "dom", responseEnd, domComplete);
      page.touch(now(loadEventEnd));
      request.end(now(responseStart));
    },
  };
}
