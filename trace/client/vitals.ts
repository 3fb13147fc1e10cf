/**
 * Web vitals, as the package `web-vitals` defines them.
 *
 * @module
 */

import type { BrowserDocument, VitalTiming } from "./browser.ts";
import { now } from "./clock.ts";
import { MAX_INTERACTIONS } from "./limits.ts";
import type { Handlers } from "./observe.ts";
import { navigationTiming } from "./page_load.ts";
import type { Root } from "./roots.ts";

declare const document: BrowserDocument;

interface InteractionCounter {
  /** The interactions with the page so far. Absent in older browsers. */
  readonly interactionCount?: number;
}

/**
 * Records TTFB, LCP, CLS and INP on the page load. Changes after its end become
 * spans when the page is hidden.
 *
 * @returns Handlers of their entries, and a function to call when the page is
 * hidden.
 */
export function recordVitals(
  page: Root,
): [handlers: Handlers, hide: () => void] {
  const { activationStart = 0, responseStart } = navigationTiming();
  let isHidden = document.hidden;
  let changes: Record<string, () => void> = {};

  function set(
    name: string,
    value: number,
    { duration, startTime }: Partial<PerformanceEntry> = {},
  ): void {
    const key = `app.vital.${name}`;
    // After the end of the page load, this has no effect.
    page.span.setAttribute(key, value);
    if (page.isOver) {
      changes[name] = () =>
        page.span.child(`web-vital ${name.toUpperCase()}`, "custom", {
          startTime: now(startTime),
          attributes: { [key]: value, "app.detached": true },
        }).end(now(startTime! + duration!));
    }
  }

  /** Returns a time since the user has opened the page. */
  const sinceOpened = (time: number) => Math.max(time - activationStart, 0);
  set("ttfb", sinceOpened(responseStart));

  let largest = 0;
  let shifts = 0;
  let first = 0;
  let last = 0;
  if ("LayoutShift" in globalThis) set("cls", 0);

  let longest: VitalTiming[] = [];
  const onInteraction = (entry: VitalTiming) => {
    if (!entry.interactionId) return;
    const sorted = [...longest, entry].sort((a, b) => b.duration - a.duration);
    longest = sorted.filter(({ interactionId }, index) =>
      index ===
        sorted.findIndex((other) => other.interactionId === interactionId)
    ).slice(0, MAX_INTERACTIONS);
    // One in 50 interactions may be slower.
    const { interactionCount = 0 } = performance as InteractionCounter;
    const worst = longest[Math.floor(interactionCount / 50)] ?? longest.at(-1)!;
    set("inp", worst.duration, worst);
  };

  return [{
    "largest-contentful-paint"(entry: PerformanceEntry) {
      if (!isHidden) set("lcp", sinceOpened(entry.startTime), entry);
    },
    "layout-shift"(entry: VitalTiming) {
      const { hadRecentInput, startTime, value } = entry;
      if (hadRecentInput) return;
      // Shifts count together within 5 s, if less than 1 s lies between two.
      if (!shifts || startTime - last >= 1000 || startTime - first >= 5000) {
        shifts = 0;
        first = startTime;
      }
      last = startTime;
      shifts += value;
      if (shifts > largest) set("cls", largest = shifts, entry);
    },
    event: onInteraction,
    "first-input": onInteraction,
  }, () => {
    isHidden = true;
    for (const name in changes) changes[name]!();
    changes = {};
  }];
}
