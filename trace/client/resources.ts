import type { ResourceTiming } from "./browser.ts";
import { now } from "./clock.ts";
import type { Observe } from "./observe.ts";
import type { Requests } from "./requests.ts";
import { addSpan, type ClientTrace, createTrace, type Roots } from "./roots.ts";
import type { Sender } from "./sender.ts";

declare const location: Location;

/** Maximum resources of a root that become spans. */
const MAX_RESOURCES = 100;

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
export function recordResources(
  observe: Observe,
  roots: Roots,
  sender: Sender,
  { isTraced }: Requests,
  endpoint: string,
): void {
  observe<ResourceTiming>("resource", (entry) => {
    const { initiatorType, name, responseEnd, startTime } = entry;
    if (name.startsWith(endpoint) || isCached(entry)) return;
    const link = linkOf(entry);
    let trace: ClientTrace | undefined;
    const root = trace = roots.at(now(startTime), true);
    // The server sends no link to a request with `traceparent`.
    if (!link && /^(fetch|xml)/.test(initiatorType) && isTraced(name)) {
      root?.touch(now(responseEnd));
      return;
    }
    if (root && ++root.resources > MAX_RESOURCES) {
      sender.dropped++;
      return;
    }
    if (!root && link) {
      sender.confirm(trace = createTrace(sender, link.slice(3, 35)));
    }
    // The query may contain secrets.
    const url = name.split(/[?#]/)[0]!.replace(location.origin, "");
    addSpan(
      trace,
      `${initiatorType} ${url}`,
      startTime,
      responseEnd,
      "request",
      {
        "app.link": link,
      },
    );
  });

  observe("longtask", ({ duration, startTime }) => {
    const root = roots.at(now(startTime));
    addSpan(root, "longtask", startTime, startTime + duration, "custom");
  });
}
