import { observeCaches } from "../../data/cache_observer.ts";
import type { Tracer } from "../../trace/types.ts";
import { serveJSON } from "../serve_json.ts";
import { CacheWatch } from "./cache_watch.ts";
import { listCaches } from "./listing.ts";

/**
 * Starts to observe all caches of this process, and lists them at `/cache` below
 * the viewer.
 */
export function startCaches(tracer: Tracer): { close(): void } {
  const watch = new CacheWatch();
  observeCaches(watch);
  serveJSON(tracer, "/cache", () => listCaches(watch.caches));
  return { close: () => observeCaches(undefined) };
}
