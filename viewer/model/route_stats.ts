/**
 * Statistics per route, over the traces that the list shows.
 *
 * @module
 */

import { comparison } from "./sort.ts";
import { isFailedTrace, type TraceEntry } from "./summary.ts";

/** Statistics of one route. Times are in milliseconds. */
export interface RouteStats {
  /** Method and pattern, as {@linkcode routeKey} gives it. */
  readonly key: string;
  /** The HTTP method; empty if it wasn't a request. */
  readonly method: string;
  /** The pattern of the route; the path if none matched. */
  readonly route: string;
  /** How many requests there were. */
  readonly count: number;
  /** The median. */
  readonly p50: number;
  /** 95 of 100 were at most this long. */
  readonly p95: number;
  /** 99 of 100 were at most this long. */
  readonly p99: number;
  /** The longest. */
  readonly max: number;
  /** The share that failed, from 0 to 1. */
  readonly errorRate: number;
}

/** The columns that order the table of routes. */
export type RouteColumn = Exclude<keyof RouteStats, "key" | "method">;

/** Returns the method and route of a trace as one text. */
export function routeKey(entry: TraceEntry): string {
  const route = entry.route === "" ? entry.path : entry.route;
  return entry.method === "" ? route : `${entry.method} ${route}`;
}

/** Computes the statistics of each route. Running requests don't count. */
export function routeStats(entries: readonly TraceEntry[]): RouteStats[] {
  const ended = entries.filter(({ pending }) => !pending);
  const byRoute = Map.groupBy(ended, routeKey);
  return [...byRoute].map(([key, list]) => {
    const first = list[0]!;
    const durations = Float64Array.from(list, (entry) => entry.duration).sort();
    return {
      key,
      method: first.method,
      route: first.route === "" ? first.path : first.route,
      count: list.length,
      p50: percentile(durations, 50),
      p95: percentile(durations, 95),
      p99: percentile(durations, 99),
      max: durations.at(-1) ?? 0,
      errorRate: list.filter(isFailedTrace).length / list.length,
    };
  });
}

/**
 * Returns the nearest-rank percentile of ascending numbers: the smallest of them
 * that at least `percent` of 100 don't exceed. It is always a measured one.
 */
export function percentile(
  ascending: ArrayLike<number>,
  percent: number,
): number {
  const rank = Math.ceil((percent / 100) * ascending.length);
  return ascending[Math.max(rank, 1) - 1] ?? 0;
}

/** Orders the table of routes; routes that are equal in it by their key. */
export function sortRoutes(
  stats: readonly RouteStats[],
  column: RouteColumn,
  descending: boolean,
): RouteStats[] {
  const order = comparison<RouteColumn, RouteStats>({ column, descending });
  return stats.toSorted((a, b) => order(a, b) || (a.key < b.key ? -1 : 1));
}
