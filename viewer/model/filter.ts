/**
 * Which traces the list shows.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";
import { routeKey } from "./route_stats.ts";
import { isFailedTrace, type TraceEntry } from "./summary.ts";

/** The conditions that a shown trace meets. */
export interface Filters {
  /** The HTTP method; empty for any. */
  readonly method: string;
  /** First digits of the status; empty for any. */
  readonly statusClasses: readonly number[];
  /** A part of the path, in any case; empty for any. */
  readonly path: string;
  /** A layer that at least one span has; empty for any. */
  readonly layer: Layer | "";
  /** The least duration in milliseconds. */
  readonly minDuration: number;
  /** Whether only failed traces are shown. */
  readonly errorsOnly: boolean;
  /** A route, as `routeKey()` gives it; empty for any. */
  readonly route: string;
}

/** Filters that let everything through. */
export const NO_FILTERS: Filters = {
  method: "",
  statusClasses: [],
  path: "",
  layer: "",
  minDuration: 0,
  errorsOnly: false,
  route: "",
};

/** Returns how many filters are in use. */
export function countFilters(filters: Filters): number {
  const names = Object.keys(NO_FILTERS) as (keyof Filters)[];
  return names
    .filter((name) => String(filters[name]) !== String(NO_FILTERS[name]))
    .length;
}

/**
 * Returns the test for a set of filters. A running request has no status, no
 * duration and no layers yet, so filters on those leave it out.
 */
export function createFilter(
  filters: Filters,
): (entry: TraceEntry) => boolean {
  const { method, statusClasses, layer, minDuration, errorsOnly, route } =
    filters;
  const path = filters.path.toLowerCase();
  return (entry) =>
    (method === "" || entry.method === method) &&
    (statusClasses.length === 0 ||
      statusClasses.includes(Math.floor(entry.statusCode / 100))) &&
    (path === "" || entry.path.toLowerCase().includes(path)) &&
    (layer === "" || entry.layers.some(([name]) => name === layer)) &&
    (minDuration <= 0 || entry.duration >= minDuration) &&
    (!errorsOnly || isFailedTrace(entry)) &&
    (route === "" || routeKey(entry) === route);
}
