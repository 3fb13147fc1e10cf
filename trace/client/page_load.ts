import type {
  BrowserDocument,
  NavigationTiming,
  ResourceTiming,
} from "./browser.ts";
import type { Attributes, Layer } from "../types.ts";
import type { ClientSpan } from "./span.ts";
import type { ClientTracer } from "./tracer.ts";

declare const document: BrowserDocument;
declare const location: Location;

/** Resources of a page that become spans. */
const MAX_RESOURCES = 100;

/**
 * Finds the trace of the request that the page is the answer to: in
 * `<meta name="app-trace-id">`, in `window.__APP_TRACE_ID__`, or in what the
 * server's tracing writes in the header `Server-Timing`.
 *
 * @returns Its id, or `undefined` if the request was not traced.
 */
export function findPageTrace(): string | undefined {
  const id = document.querySelector('meta[name="app-trace-id"]')?.content ??
    (globalThis as { __APP_TRACE_ID__?: string }).__APP_TRACE_ID__ ??
    navigationTiming().serverTiming?.find(({ name }) => name === "trace")
      ?.description.slice(3, 35);
  return /^[\da-f]{32}$/.test(`${id}`) ? id : undefined;
}

/**
 * Records how the page was loaded, once it is: the navigation with its parts,
 * the resources, and the tasks that blocked the page.
 *
 * @param tracer Opens the spans.
 * @param signal Calls it off.
 */
export function recordPageLoad(
  tracer: ClientTracer,
  signal: AbortSignal,
): void {
  // The end of the event is only known after it.
  const loaded = () => setTimeout(() => signal.aborted || record(tracer));
  if (document.readyState === "complete") loaded();
  else addEventListener("load", loaded, { signal });
}

function record(tracer: ClientTracer): void {
  const navigation = navigationTiming();
  const { loadEventEnd, responseEnd, responseStart } = navigation;
  let page: ClientSpan | undefined;

  /** Adds a span: the one of the page first, the others below it. */
  function add(
    name: string,
    layer: Layer,
    start: number,
    end: number,
    attributes: Attributes = {},
  ): void {
    // Not so if something is unknown, either.
    if (!(end > start)) return;
    const { timeOrigin } = performance;
    const options = { startTime: timeOrigin + start, attributes };
    const span = page?.child(name, layer, options) ??
      tracer.startSpan(name, layer, options);
    page ??= span;
    span.end(timeOrigin + end);
  }

  add("page:load", "request", 0, loadEventEnd, {
    "url.path": location.pathname,
  });
  for (
    const [name, start, end] of [
      ["dns", navigation.domainLookupStart, navigation.domainLookupEnd],
      ["connect", navigation.connectStart, navigation.connectEnd],
      ["request", navigation.requestStart, responseStart],
      ["response", responseStart, responseEnd],
      ["dom", responseEnd, navigation.domComplete],
    ] as const
  ) add(name, "request", start, end);

  (performance.getEntriesByType("resource") as unknown as ResourceTiming[])
    // The requests of `fetch` have traces of their own.
    .filter(({ initiatorType }) => initiatorType !== "fetch")
    .slice(0, MAX_RESOURCES)
    .forEach((entry) => {
      // The query may hold what opens doors.
      const url = entry.name.split(/[?#]/)[0]!.replace(location.origin, "");
      add(
        `${entry.initiatorType} ${url}`,
        "request",
        entry.startTime,
        entry.responseEnd,
        { "http.response.body.size": entry.encodedBodySize },
      );
    });

  // Calls back at once if there was a long task, and only that call counts.
  if (PerformanceObserver.supportedEntryTypes?.includes("longtask")) {
    new PerformanceObserver((list, observer) => {
      observer.disconnect();
      for (const { startTime, duration } of list.getEntries()) {
        if (startTime < loadEventEnd) {
          add("longtask", "custom", startTime, startTime + duration);
        }
      }
    }).observe({ type: "longtask", buffered: true });
  }
}

/** What is known of the navigation; nothing in a browser that doesn't tell. */
function navigationTiming(): NavigationTiming {
  return Object(performance.getEntriesByType("navigation")[0]);
}
