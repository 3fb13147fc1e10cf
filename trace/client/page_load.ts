import type { BrowserDocument, NavigationTiming } from "./browser.ts";
import type { Handlers } from "./observe.ts";
import { isCached, linkOf } from "./resources.ts";
import { addSpan, type Root } from "./roots.ts";
import { ClientSpan } from "./span.ts";

declare const document: BrowserDocument;

/** The phases of a page load whose timing has a start and an end. */
const PHASES = ["redirect", "connect", "response"] as const;

/** Returns the navigation's timing. Empty if the browser doesn't support it. */
export function navigationTiming(): NavigationTiming {
  return Object(performance.getEntriesByType("navigation")[0]);
}

/**
 * Finds the server's request for the page: in a meta element, or in the header
 * `Server-Timing`.
 *
 * @returns The trace id as a part of its `traceparent`, or alone. `null` if the
 * request wasn't traced, or if the page came from a cache.
 */
export function findPageTrace(
  timing: NavigationTiming,
): RegExpExecArray | null {
  const text = document.querySelector("[name=traceparent],[name=app-trace-id]")
    ?.content ?? linkOf(timing);
  return isCached(timing) ? null : /[\da-f]{32}/.exec(text!);
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
  const request = new ClientSpan(page, "request", "request", {
    startTime: requestStart,
  });
  let isLoaded: boolean | undefined;
  return {
    navigation(timing: NavigationTiming) {
      // Browsers may report it before its end, and twice.
      if (isLoaded || !timing.loadEventEnd) return;
      isLoaded = true;
      for (const name of PHASES) {
        addSpan(page, name, timing[`${name}Start`], timing[`${name}End`]);
      }
      addSpan(page, "dom", timing.responseEnd, timing.loadEventEnd);
      request.end(responseStart);
    },
  };
}
