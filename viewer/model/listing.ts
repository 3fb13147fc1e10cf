/**
 * Filters and orders the list of traces, and computes statistics for each
 * route.
 *
 * @module
 */

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
 * Returns the test for a set of filters. A running request has no status, no
 * duration and no layers yet, so filters on those leave it out.
 */
export function createFilter(filters: Filters): (entry: TraceEntry) => boolean {
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

/** The columns that order the list. */
export const LIST_COLUMNS = [
  "method",
  "path",
  "statusCode",
  "duration",
  "spanCount",
  "startTime",
] as const;

/** A column that orders the list. */
export type ListColumn = typeof LIST_COLUMNS[number];

/** A column and a direction. */
export interface Order<Column extends string> {
  /** The column. */
  readonly column: Column;
  /** Whether the largest value comes first. */
  readonly descending: boolean;
}

/** The initial order of the list. */
export const NEWEST_FIRST: Order<ListColumn> = {
  column: "startTime",
  descending: true,
};

/**
 * Returns the order after a click on a column's head: the other direction for
 * the same column, or else the more useful direction.
 */
export function nextOrder<Column extends string>(
  order: Order<Column>,
  column: Column,
): Order<Column> {
  return {
    column,
    descending: order.column === column
      ? !order.descending
      : !["kind", "method", "name", "path", "route"].includes(column),
  };
}

/** Orders entries, equal ones newest first. */
export function sortEntries(
  entries: readonly TraceEntry[],
  order: Order<ListColumn>,
): TraceEntry[] {
  const newest = (a: TraceEntry, b: TraceEntry) => b.startTime - a.startTime;
  // The order of live traces, which is sorted again for each of them.
  if (order.column === "startTime" && order.descending) {
    return entries.toSorted(newest);
  }
  const compare = comparison<ListColumn, TraceEntry>(order);
  return entries.toSorted((a, b) => compare(a, b) || newest(a, b));
}

/** Returns a comparison of items by a column, for `sort()`. */
function comparison<
  Column extends string,
  Item extends Readonly<Record<Column, string | number>>,
>({ column, descending }: Order<Column>): (a: Item, b: Item) => number {
  const sign = descending ? -1 : 1;
  return ({ [column]: x }, { [column]: y }) => x < y ? -sign : x > y ? sign : 0;
}

/** Statistics of one route. */
export type RouteStats = ReturnType<typeof statsOf>;

/** The columns that order the table of routes. */
export const ROUTE_COLUMNS = [
  "route",
  "count",
  "p50",
  "p95",
  "p99",
  "max",
  "errorRate",
] as const;

/** A column that orders the table of routes. */
export type RouteColumn = typeof ROUTE_COLUMNS[number];

/** The initial order of the table of routes. */
export const MOST_FIRST: Order<RouteColumn> = {
  column: "count",
  descending: true,
};

/** Returns the method and route of a trace as one text. */
export function routeKey(entry: TraceEntry): string {
  const route = entry.route === "" ? entry.path : entry.route;
  return entry.method === "" ? route : `${entry.method} ${route}`;
}

/** Computes the statistics of each route. Running requests don't count. */
export function routeStats(entries: readonly TraceEntry[]): RouteStats[] {
  const ended = entries.filter(({ pending }) => !pending);
  return [...Map.groupBy(ended, routeKey)].map(statsOf);
}

/** Returns the statistics of the traces of a route. Times are in milliseconds. */
function statsOf([key, list]: [key: string, list: TraceEntry[]]) {
  const { method, route, path } = list[0]!;
  const durations = Float64Array.from(list, ({ duration }) => duration).sort();
  return {
    /** Method and pattern, as {@linkcode routeKey} gives it. */
    key,
    /** The HTTP method; empty if it wasn't a request. */
    method,
    /** The pattern of the route; the path if none matched. */
    route: route === "" ? path : route,
    /** How many requests there were. */
    count: list.length,
    /** The median. */
    p50: percentile(durations, 50),
    /** The 95th percentile. */
    p95: percentile(durations, 95),
    /** The 99th percentile. */
    p99: percentile(durations, 99),
    /** The maximum. */
    max: durations.at(-1) ?? 0,
    /** The share that failed, from 0 to 1. */
    errorRate: list.filter(isFailedTrace).length / list.length,
  };
}

/**
 * Returns the nearest-rank percentile of ascending numbers, which is always one
 * of them.
 */
export function percentile(
  ascending: ArrayLike<number>,
  percent: number,
): number {
  const rank = Math.ceil((percent / 100) * ascending.length);
  return ascending[Math.max(rank, 1) - 1] ?? 0;
}

/** Orders the table of routes. Equal routes are ordered by their key. */
export function sortRoutes(
  stats: readonly RouteStats[],
  order: Order<RouteColumn>,
): RouteStats[] {
  const compare = comparison<RouteColumn, RouteStats>(order);
  return stats.toSorted((a, b) => compare(a, b) || (a.key < b.key ? -1 : 1));
}
