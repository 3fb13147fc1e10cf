import type { ResourceTiming } from "./browser.ts";
import { now } from "./clock.ts";
import { MAX_RESOURCES } from "./limits.ts";
import type { Handlers } from "./observe.ts";
import { tracedPath } from "./requests.ts";
import { addSpan, type ClientTrace, createTrace, findRoot } from "./roots.ts";
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
 * Records long tasks, and the requests that can't send `traceparent`: scripts,
 * images, beacons and others.
 *
 * @param endpoint The URL of the server's traces. Requests to it aren't recorded.
 */
export function recordResources(endpoint: string): Handlers {
  return {
    resource(entry: ResourceTiming) {
      const { initiatorType, name: url, responseEnd, startTime } = entry;
      if (url.startsWith(endpoint) || isCached(entry)) return;
      const link = linkOf(entry);
      const root = findRoot(true, now(startTime));
      // The server sends no link to a request with `traceparent`.
      if (!link && /^(fetch|xml)/.test(initiatorType) && tracedPath(url)) {
        root?.touch(now(responseEnd));
        return;
      }
      if (root && ++root.resources > MAX_RESOURCES) return drop();
      let trace: ClientTrace | undefined = root;
      if (link) confirm(trace ??= createTrace(link.slice(3, 35)), true);
      // The query may contain secrets.
      const path = url.split(/[?#]/)[0]!.replace(location.origin, "");
      const name = `${initiatorType} ${path}`;
      addSpan(trace, name, startTime, responseEnd, "request", {
        "app.link": link,
      });
    },
    longtask({ duration, startTime }: PerformanceEntry) {
      const root = findRoot(false, now(startTime));
      addSpan(root, "longtask", startTime, startTime + duration, "custom");
    },
  };
}
