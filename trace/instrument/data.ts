import { getActiveSpan } from "../record/context.ts";
import type { Span } from "../types.ts";
import { inSpan } from "./in_span.ts";

/**
 * Traces the loading of a route's data, as a span `loader:<name>`.
 *
 * @param name Names the loader.
 * @param load Loads the data.
 * @returns What `load` returns.
 *
 * @example
 * ```ts
 * import { traceLoader } from "@quartet/kit/trace";
 *
 * const country = await traceLoader("country", () => Promise.resolve("FRA"));
 * console.assert(country === "FRA");
 * ```
 */
export function traceLoader<T>(name: string, load: (span: Span) => T): T {
  return inSpan(`loader:${name}`, "data", load);
}

/** What {@linkcode recordLoaderMetrics} can note. */
export interface LoaderMetrics {
  /** How the data was come by. */
  readonly cache?: "hit" | "stale" | "miss";
  /** How many items were loaded. */
  readonly items?: number;
  /** How large the data is, in bytes. */
  readonly size?: number;
}

/** Notes on the active span what a loader found. */
export function recordLoaderMetrics(metrics: LoaderMetrics): void {
  const span = getActiveSpan();
  if (span === undefined) return;
  const { cache, items, size } = metrics;
  if (cache !== undefined) span.setAttribute("app.loader.cache", cache);
  if (items !== undefined) span.setAttribute("app.loader.items", items);
  if (size !== undefined) span.setAttribute("app.loader.size", size);
}

/**
 * Traces work on a cache, as a span `cache.<operation>` of the data layer.
 *
 * @param operation What is done: `get`, `set`, `delete`, …
 * @param key The key it is done to.
 * @param run Does it. It may set `app.cache.result` to `hit`, `stale` or `miss`.
 * @returns What `run` returns.
 */
export function traceCacheOperation<T>(
  operation: string,
  key: string,
  run: (span: Span) => T,
): T {
  return inSpan(`cache.${operation}`, "data", run, { "app.cache.key": key });
}
