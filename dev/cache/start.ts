import { observeCaches } from "../../data/cache_observer.ts";
import { addRoute } from "../../trace/http/extra_routes.ts";
import type { Tracer } from "../../trace/types.ts";
import { CacheWatch } from "./cache_watch.ts";
import { listCaches } from "./listing.ts";

/**
 * Starts to observe all caches of this process, and lists them at `/cache` below
 * the viewer.
 *
 * @returns A function that stops it.
 */
export function watchCaches(tracer: Tracer): () => void {
  const watch = new CacheWatch();
  observeCaches(watch);
  addRoute(tracer, "/cache", {
    access: "read",
    handle: () =>
      Response.json(listCaches(watch.caches), {
        headers: { "cache-control": "no-store" },
      }),
  });
  return () => observeCaches(undefined);
}
