/**
 * Filters the list of traces.
 *
 * @module
 */

import { requestKey } from "../../trace/export/route_key.ts";
import type { RequestSummary } from "../../trace/export/trace_facts.ts";
import type { Layer } from "../../trace/types.ts";
import { isFailedTrace, type TraceEntry } from "./summary.ts";

/** Filters that match everything. */
export const NO_FILTERS = {
  /** The HTTP method. Empty for any. */
  method: "",
  /** First digits of the status; empty for any. */
  statusClasses: [] as readonly number[],
  /** A part of the path, in any case; empty for any. */
  path: "",
  /** A layer that at least one span has; empty for any. */
  layer: "" as Layer | "",
  /** The minimum duration, in milliseconds. */
  minDuration: 0,
  /** Whether only failed traces are shown. */
  errorsOnly: false,
  /** A route, as `routeKey()` gives it; empty for any. */
  route: "",
};

/** The conditions that a shown trace meets. */
export type Filters = Readonly<typeof NO_FILTERS>;

/** Returns how many filters are in use. */
export function countFilters(filters: Filters): number {
  const names = Object.keys(NO_FILTERS) as (keyof Filters)[];
  const isUsed = (name: keyof Filters) =>
    String(filters[name]) !== String(NO_FILTERS[name]);
  return names.filter(isUsed).length;
}

/**
 * Returns the test for a set of filters. Filters on requests match if one of
 * the trace's requests meets them all. A running request has no status, no duration
 * and no layers yet, so filters on those leave it out.
 */
export function createFilter(filters: Filters): (entry: TraceEntry) => boolean {
  const { layer, minDuration, errorsOnly } = filters;
  const isOwn = createRequestFilter(filters);
  return (entry) =>
    (layer === "" || entry.layers.some(([name]) => name === layer)) &&
    (minDuration <= 0 || entry.duration >= minDuration) &&
    (!errorsOnly || isFailedTrace(entry)) &&
    (isOwn(entry) || entry.requests.some(isOwn));
}

/** A trace or one of its requests. */
export type Filtered = TraceEntry | RequestSummary;

/** Returns the test for the filters on a single request. */
function createRequestFilter(filters: Filters): (one: Filtered) => boolean {
  const { method, statusClasses, route } = filters;
  const path = filters.path.toLowerCase();
  return (one) =>
    (method === "" || one.method === method) &&
    (statusClasses.length === 0 ||
      statusClasses.includes(Math.floor(one.statusCode / 100))) &&
    (path === "" || one.path.toLowerCase().includes(path)) &&
    (route === "" || routeKey(one) === route);
}

/**
 * Returns the request of a trace that meets the filters. `undefined` if the
 * trace's own root does, or if no filter is on requests.
 */
export function matchedRequest(
  entry: TraceEntry,
  filters: Filters,
): RequestSummary | undefined {
  const isOwn = createRequestFilter(filters);
  return isOwn(entry) ? undefined : entry.requests.find(isOwn);
}

/** Kinds whose name says more, such as what was clicked on. */
const NAMED_KINDS = ["click", "submit", "key", "job"];

/** Returns the kind and route of a trace or request as one text. */
export function routeKey(one: Filtered): string {
  const { path, route } = one;
  if (!("kind" in one)) return requestKey(one.method, path, route);
  const { kind, name } = one;
  if (NAMED_KINDS.includes(kind)) return name;
  return requestKey(kind === "page load" ? "page" : kind, path, route);
}
