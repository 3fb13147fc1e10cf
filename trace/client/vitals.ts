/**
 * Web vitals, as the package `web-vitals` defines them.
 *
 * @module
 */

import type {
  BrowserDocument,
  NavigationTiming,
  VitalTiming,
} from "./browser.ts";
import type { Handlers } from "./observe.ts";
import type { Root } from "./roots.ts";
import type { ClientSpan } from "./span.ts";

declare const document: BrowserDocument;

/**
 * Records TTFB, LCP, CLS and INP on the page load. Changes after its end become
 * a span when the page is hidden.
 *
 * @returns Handlers of their entries, and a function to call when the page is
 * hidden.
 */
export function recordVitals(
  page: Root,
  { activationStart = 0, responseStart }: NavigationTiming,
): [handlers: Handlers, hide: () => void] {
  let isHidden = document.hidden;
  let late: ClientSpan | undefined;

  function set(name: string, value: number): void {
    // After the end of the page load, this has no effect.
    page.span.setAttribute(name, value);
    if (page.isOver) {
      late ??= page.span.child("web-vitals");
      late.setAttribute("app.detached", true);
      late.setAttribute(name, value);
    }
  }

  /** Returns a time since the user has opened the page. */
  const sinceOpened = (time: number) => Math.max(time - activationStart, 0);
  set("app.vital.ttfb", sinceOpened(responseStart));

  let largest = 0;
  let shifts = 0;
  let first = -Infinity;
  let last = 0;
  if ("LayoutShift" in globalThis) set("app.vital.cls", 0);

  let longest = 0;
  // Also in "first-input", the only entry of a short interaction.
  const event = ({ duration, interactionId }: VitalTiming) => {
    if (interactionId && duration > longest) {
      set("app.vital.inp", longest = duration);
    }
  };

  return [{
    "largest-contentful-paint"({ startTime }: PerformanceEntry) {
      if (!isHidden) set("app.vital.lcp", sinceOpened(startTime));
    },
    "layout-shift"({ hadRecentInput, startTime, value }: VitalTiming) {
      if (hadRecentInput) return;
      // Shifts count together within 5 s, if less than 1 s lies between two.
      if (startTime - last >= 1000 || startTime - first >= 5000) {
        shifts = 0;
        first = startTime;
      }
      last = startTime;
      shifts += value;
      if (shifts > largest) set("app.vital.cls", largest = shifts);
    },
    event,
    "first-input": event,
  }, () => {
    isHidden = true;
    late?.end();
    late = undefined;
  }];
}
