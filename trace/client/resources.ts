import type { ResourceTiming } from "./browser.ts";
import type { Handlers } from "./observe.ts";
import { tracedPath } from "./requests.ts";
import { addSpan, createTrace, findRoot } from "./roots.ts";
import { ClientSpan } from "./span.ts";
import { confirm, endpoint } from "./sender.ts";

/** Returns the `traceparent` of the server's request, if it was traced. */
export function linkOf({ serverTiming }: ResourceTiming): string | undefined {
  return serverTiming?.find(({ name }) => name === "trace")?.description;
}

/**
 * Is truthy if a response came from a cache. It would name the trace of an earlier
 * request. Other origins hide both sizes, and so do browsers while a document
 * arrives.
 */
export function isCached(
  { decodedBodySize, deliveryType, transferSize }: ResourceTiming,
): unknown {
  return deliveryType || decodedBodySize && !transferSize;
}

/**
 * Records long tasks, and the requests that send no `traceparent`: scripts,
 * images, beacons, `XMLHttpRequest` and others.
 */
export function recordResources(): Handlers {
  return {
    resource(entry: ResourceTiming) {
      const { initiatorType, name, responseEnd, responseStatus, startTime } =
        entry;
      // A service worker hides whether it has a cache. The server finds out.
      if (name.startsWith(endpoint!) || isCached(entry) && !entry.workerStart) {
        return;
      }
      const link = linkOf(entry);
      const path = tracedPath(name);
      const root = findRoot(true, startTime);
      // It has a span already. The end of the body belongs to its root.
      if (!link && initiatorType === "fetch" && path) {
        return root?.ended(responseEnd, 0);
      }
      const trace = root ?? (link && createTrace(link.slice(3, 35)));
      if (!trace) return;
      if (link) confirm(trace, true);
      // The query may contain secrets.
      const target = path || name.split(/[?#]/)[0];
      new ClientSpan(trace, `${initiatorType} ${target}`, "request", {
        startTime,
        attributes: {
          "app.link": link,
          // It is 0 for other origins.
          "http.response.status_code": responseStatus || undefined,
        },
      }).end(responseEnd);
    },
    longtask({ duration, startTime }: PerformanceEntry) {
      const root = findRoot(false, startTime);
      addSpan(root, "longtask", startTime, startTime + duration);
    },
  };
}
