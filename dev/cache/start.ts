import { observeCaches } from "../../data/cache_observer.ts";
import { CacheWatch } from "./cache_watch.ts";

/**
 * Starts to observe all caches of this process.
 *
 * @returns A function that stops it.
 */
export function watchCaches(): () => void {
  observeCaches(new CacheWatch());
  return () => observeCaches(undefined);
}
