/**
 * Orders the list of traces, and computes statistics for each route.
 *
 * @module
 */

import { routeKey } from "./filters.ts";
import { percentile } from "../../trace/export/percentile.ts";
import { isAction, isFailedTrace, type TraceEntry } from "./summary.ts";

/**
 * Returns rows at the places that they had, although traces have changed or
 * ended since. New ones are left out.
 *
 * @param before The rows as they were.
 * @param now The rows in their latest order.
 * @param keyOf Returns the key of the trace that a trace id belongs to.
 */
export function keepPlaces(
  before: readonly TraceEntry[],
  now: readonly TraceEntry[],
  keyOf: (id: string) => string,
): TraceEntry[] {
  const rest = new Map(now.map((entry) => [entry.key, entry]));
  const rows: TraceEntry[] = [];
  for (const { id } of before) {
    const key = keyOf(id);
    const entry = rest.get(key);
    if (entry === undefined) continue;
    rows.push(entry);
    rest.delete(key);
  }
  return rows;
}

/** The columns that order the list. */
export const LIST_COLUMNS = [
  "kind",
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
      : !["kind", "name", "path", "route"].includes(column),
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
  const compare = byColumn(order);
  return entries.toSorted((a, b) => compare(a, b) || newest(a, b));
}

/** Returns a comparison of items by a column, for `sort()`. */
export function byColumn<Column extends string>(
  { column, descending }: Order<Column>,
) {
  type Item = Readonly<Record<Column, string | number>>;
  const sign = descending ? -1 : 1;
  return ({ [column]: x }: Item, { [column]: y }: Item) =>
    x < y ? -sign : x > y ? sign : 0;
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

/** A run of a route: a trace, or a request in a trace. */
export interface Run {
  /** The trace. */
  readonly entry: TraceEntry;
  /** The route, as {@linkcode routeKey} returns it. */
  readonly route: string;
  /** Its duration, in milliseconds. */
  readonly duration: number;
  /** Whether it failed. */
  readonly failed: boolean;
}

/** Returns the runs of each route. Traces that still run don't count. */
export function runsByRoute(
  entries: readonly TraceEntry[],
): Map<string, Run[]> {
  const runs: Run[] = [];
  for (const entry of entries) {
    const { duration, requests } = entry;
    if (entry.pending || entry.running) continue;
    // The requests include a root that is one.
    if (requests.length === 0 || entry.method === "" || isAction(entry)) {
      const failed = isFailedTrace(entry);
      runs.push({ entry, route: routeKey(entry), duration, failed });
    }
    for (const request of requests) {
      const { duration, failed } = request;
      runs.push({ entry, route: routeKey(request), duration, failed });
    }
  }
  return Map.groupBy(runs, ({ route }) => route);
}

/** Computes the statistics of each route. */
export function routeStats(entries: readonly TraceEntry[]): RouteStats[] {
  return Array.from(runsByRoute(entries), statsOf);
}

/** Returns the statistics of the runs of a route. Times are in milliseconds. */
function statsOf([key, runs]: [key: string, runs: Run[]]) {
  const durations = Float64Array.from(runs, ({ duration }) => duration).sort();
  return {
    /** Kind and pattern, as {@linkcode routeKey} returns them. */
    key,
    /** The key, which orders the table. */
    route: key,
    /** How many there were. */
    count: runs.length,
    /** The median. */
    p50: percentile(durations, 50),
    /** The 95th percentile. */
    p95: percentile(durations, 95),
    /** The 99th percentile. */
    p99: percentile(durations, 99),
    /** The maximum. */
    max: durations.at(-1) ?? 0,
    /** The share that failed, from 0 to 1. */
    errorRate: runs.filter(({ failed }) => failed).length / runs.length,
  };
}

/** Orders the table of routes. Equal routes are ordered by their key. */
export function sortRoutes(
  stats: readonly RouteStats[],
  order: Order<RouteColumn>,
): RouteStats[] {
  const compare = byColumn(order);
  return stats.toSorted((a, b) => compare(a, b) || (a.key < b.key ? -1 : 1));
}
