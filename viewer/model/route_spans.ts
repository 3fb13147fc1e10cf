/**
 * Sums up the spans of a route over its traces, to compare two routes.
 *
 * @module
 */

import { withDescendants } from "../../trace/export/descendants.ts";
import { routeKeyOf } from "../../trace/export/route_key.ts";
import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import type { SpanHistory, SpanTimes } from "./history.ts";
import { percentile } from "../../trace/export/percentile.ts";
import { spanKey } from "./tree.ts";

/** The spans with one name and layer, in the runs of a route. */
export type SpanStats = ReturnType<typeof statsOf>;

/** The spans with one name and layer, in two routes. */
export interface SpanRow {
  /** The layer. */
  readonly layer: SpanData["layer"];
  /** The name. */
  readonly name: string;
  /** Figures of the first route. */
  readonly a: SpanStats | undefined;
  /** Figures of the second route. */
  readonly b: SpanStats | undefined;
}

/**
 * Returns the spans of the runs of a route in a trace: its requests and what is
 * below them, or all spans if it isn't the route of a request.
 *
 * @param key The route, as `routeKey()` returns it.
 */
export function spansOfRoute(trace: SerializedTrace, key: string): SpanData[] {
  const { spans } = trace;
  const requests = spans.filter((span) => routeKeyOf(span) === key);
  const ids = withDescendants(requests, spans);
  return ids.size === 0 ? [...spans] : spans.filter(({ id }) => ids.has(id));
}

/** A route in the comparison. */
export interface RouteSide {
  /** The number of its runs. One trace may have several. */
  readonly runs: number;
  /** Their spans. */
  readonly history: SpanHistory;
}

/** Lists the spans of one or two routes, the most self time first. */
export function compareRoutes(a: RouteSide, b?: RouteSide): SpanRow[] {
  const rows = new Map<string, SpanRow>();
  const sides = { a, ...(b && { b }) };
  for (const [side, { runs, history }] of Object.entries(sides)) {
    for (const times of history.all()) {
      const { layer, name } = times;
      const key = spanKey(times);
      const row = rows.get(key) ?? { layer, name, a: undefined, b: undefined };
      const stats = statsOf(times, runs);
      rows.set(key, { ...row, [side]: stats });
    }
  }
  return [...rows.values()].sort((x, y) => weightOf(y) - weightOf(x));
}

function statsOf({ durations, self, count }: SpanTimes, runs: number) {
  return {
    /** How many there are in a run, on average. */
    perRun: count / runs,
    /** The median of their durations, in milliseconds. */
    p50: percentile(durations, 50),
    /** The 95th percentile of their durations. */
    p95: percentile(durations, 95),
    /** The median of their self times. */
    self: percentile(self, 50),
  };
}

function weightOf({ a, b }: SpanRow): number {
  const weights = [a, b].map((side) => side ? side.perRun * side.self : 0);
  return Math.max(...weights);
}
