/**
 * Web vitals, as the package `web-vitals` defines them.
 *
 * @module
 */

import type { BrowserDocument, VitalTiming } from "./browser.ts";
import { now } from "./clock.ts";
import type { Observe } from "./observe.ts";
import { navigationTiming } from "./page_load.ts";
import type { Root } from "./roots.ts";

declare const document: BrowserDocument;

interface InteractionCounter {
  /** The interactions with the page so far. Absent in older browsers. */
  readonly interactionCount?: number;
}

/** Maximum interactions that are compared. */
const MAX_INTERACTIONS = 10;

/**
 * Records TTFB, LCP, CLS and INP on the page load. Changes after its end become
 * spans when the page is hidden.
 *
 * @returns A function to call when the page is hidden.
 */
export function recordVitals(observe: Observe, page: Root): () => void {
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

  set("ttfb", Math.max(responseStart - activationStart, 0));
  observe("largest-contentful-paint", (entry) => {
    const { startTime } = entry;
    if (!isHidden) set("lcp", Math.max(startTime - activationStart, 0), entry);
  });

  let largest = 0;
  let shifts = 0;
  let first = 0;
  let last = 0;
  const onShift = (entry: VitalTiming) => {
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
  };
  if (observe("layout-shift", onShift)) set("cls", 0);

  const longest = new Map<number, VitalTiming>();
  const onInteraction = (entry: VitalTiming) => {
    const { duration, interactionId: id } = entry;
    if (!id || duration <= longest.get(id)?.duration!) return;
    longest.set(id, entry);
    const sorted = [...longest.values()]
      .sort((a, b) => b.duration - a.duration);
    for (const { interactionId } of sorted.splice(MAX_INTERACTIONS)) {
      longest.delete(interactionId!);
    }
    // One in 50 interactions may be slower.
    const { interactionCount = 0 } = performance as InteractionCounter;
    const worst = sorted[Math.floor(interactionCount / 50)] ?? sorted.at(-1)!;
    set("inp", worst.duration, worst);
  };
  observe("event", onInteraction);
  observe("first-input", onInteraction);

  return () => {
    isHidden = true;
    for (const name in changes) changes[name]!();
    changes = {};
  };
}
