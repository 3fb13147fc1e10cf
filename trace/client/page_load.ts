import type {
  BrowserDocument,
  NavigationTiming,
  ResourceTiming,
} from "./browser.ts";
import type { Layer } from "../types.ts";
import { now } from "./clock.ts";
import type { ClientSpan, ClientSpanOptions } from "./span.ts";

declare const document: BrowserDocument;
declare const location: Location;

/** Opens the spans of a page. */
export interface PageTracer {
  startSpan(
    name: string,
    layer: Layer,
    options: ClientSpanOptions,
  ): ClientSpan;
}

/** Maximum resources of a page that become spans. */
const MAX_RESOURCES = 100;

/**
 * Finds the trace of the page's own request: in `<meta name="app-trace-id">`,
 * in `window.__APP_TRACE_ID__`, or in the header `Server-Timing`.
 *
 * @returns The trace id, or `undefined` if the request wasn't traced.
 */
export function findPageTrace(): string | undefined {
  const id = document.querySelector("meta[name=app-trace-id]")?.content ??
    (globalThis as { __APP_TRACE_ID__?: string }).__APP_TRACE_ID__ ??
    navigationTiming().serverTiming?.find(({ name }) => name === "trace")
      ?.description.slice(3, 35);
  return /^[\da-f]{32}$/.exec(`${id}`)?.[0];
}

/**
 * Records the page load after it has ended: the phases of the navigation, the
 * resources, and the long tasks.
 *
 * @param tracer Opens the spans.
 */
export function recordPageLoad(tracer: PageTracer): void {
  // The event's end is only known after the event.
  const loaded = () => setTimeout(() => record(tracer));
  if (document.readyState === "complete") loaded();
  else addEventListener("load", loaded);
}

function record(tracer: PageTracer): void {
  const timing = navigationTiming();
  let page: ClientSpan | undefined;

  /** Adds a span. The first one is the page's, and the parent of the others. */
  function add(
    name: string,
    start: number,
    end: number,
    layer: Layer = "request",
  ): void {
    // Comparisons with `undefined` are false too.
    if (!(end > start)) return;
    const options = { startTime: now(start) };
    const span = page?.child(name, layer, options) ??
      tracer.startSpan(name, layer, options);
    page ??= span;
    span.end(now(end));
  }

  add("page:load", 0, timing.loadEventEnd);
  add("dns", timing.domainLookupStart, timing.domainLookupEnd);
  add("connect", timing.connectStart, timing.connectEnd);
  add("request", timing.requestStart, timing.responseStart);
  add("response", timing.responseStart, timing.responseEnd);
  add("dom", timing.responseEnd, timing.domComplete, "custom");

  const resources = performance.getEntriesByType("resource") as unknown[];
  for (
    const { name, initiatorType, startTime, responseEnd } of resources
      .slice(0, MAX_RESOURCES) as ResourceTiming[]
  ) {
    // Requests of `fetch` have their own spans.
    if (initiatorType !== "fetch") {
      // The query may contain secrets.
      const url = name.split(/[?#]/)[0]!.replace(location.origin, "");
      add(`${initiatorType} ${url}`, startTime, responseEnd);
    }
  }

  // Called once, with the long tasks so far.
  if (PerformanceObserver.supportedEntryTypes.includes("longtask")) {
    new PerformanceObserver((list, observer) => {
      observer.disconnect();
      for (const { startTime, duration } of list.getEntries()) {
        if (startTime < timing.loadEventEnd) {
          add("longtask", startTime, startTime + duration, "custom");
        }
      }
    }).observe({ type: "longtask", buffered: true });
  }
}

/** Returns the navigation's timing. Empty if the browser doesn't support it. */
function navigationTiming(): NavigationTiming {
  return Object(performance.getEntriesByType("navigation")[0]);
}
