import type { ResourceTiming } from "./browser.ts";
import { now } from "./clock.ts";
import { MAX_RESOURCES } from "./limits.ts";
import type { Handlers } from "./observe.ts";
import { setStatus, tracedPath } from "./requests.ts";
import {
  addSpan,
  type ClientTrace,
  createTrace,
  findRoot,
  openSpan,
} from "./roots.ts";
import { confirm, drop } from "./sender.ts";

declare const location: Location;

/** Returns the `traceparent` of the server's request, if it was traced. */
export function linkOf({ serverTiming }: ResourceTiming): string | undefined {
  return serverTiming?.find(({ name }) => name === "trace")?.description;
}

/**
 * Whether a response came from a cache. It would name the trace of an earlier
 * request. Other origins hide both sizes, and so does Firefox while a document
 * arrives.
 */
export function isCached(
  { decodedBodySize, transferSize }: ResourceTiming,
): boolean {
  return transferSize === 0 && decodedBodySize > 0;
}

/**
 * Records long tasks, and the requests that send no `traceparent`: scripts,
 * images, beacons, `XMLHttpRequest` and others.
 *
 * @param endpoint The URL of the server's traces. Requests to it aren't recorded.
 */
export function recordResources(endpoint: string): Handlers {
  return {
    resource(entry: ResourceTiming) {
      const {
        initiatorType,
        name: url,
        responseEnd,
        responseStatus,
        startTime,
      } = entry;
      if (url.startsWith(endpoint) || isCached(entry)) return;
      const link = linkOf(entry);
      const root = findRoot(true, now(startTime));
      // It has a span already. The end of the body belongs to its root.
      if (!link && initiatorType === "fetch" && tracedPath(url)) {
        return root?.touch(now(responseEnd));
      }
      if (root && ++root.resources > MAX_RESOURCES) return drop();
      let trace: ClientTrace | undefined = root;
      if (link) confirm(trace ??= createTrace(link.slice(3, 35)), true);
      if (!trace) return;
      // The query may contain secrets.
      const path = url.split(/[?#]/)[0]!.replace(location.origin, "");
      const span = openSpan(trace, `${initiatorType} ${path}`, "request", {
        startTime: now(startTime),
        attributes: { "app.link": link },
      });
      // It is 0 for other origins.
      setStatus(span, responseStatus || undefined);
      span.end(now(responseEnd));
    },
    longtask({ duration, startTime }: PerformanceEntry) {
      const root = findRoot(false, now(startTime));
      addSpan(root, "longtask", startTime, startTime + duration);
    },
  };
}
