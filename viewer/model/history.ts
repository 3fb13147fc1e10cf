/**
 * The durations of earlier runs, to compare a trace or span with.
 *
 * @module
 */

import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import { statementOf } from "../../trace/export/attributes.ts";
import { selfTimes } from "../../trace/export/self_time.ts";
import { routeKey } from "./filters.ts";
import { percentile } from "../../trace/export/percentile.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import type { TraceEntry } from "./summary.ts";

/** The durations of something that ran several times. */
export interface Times {
  /** The durations in milliseconds, ascending. */
  readonly durations: Float64Array;
  /** How many there are. */
  readonly count: number;
  /** Returns the share of them that is shorter than a duration, from 0 to 1. */
  percentileOf(duration: number): number;
}

/** Returns durations in any order as {@linkcode Times}. */
export function timesOf(unordered: Iterable<number>): Times {
  const durations = Float64Array.from(unordered).sort();
  return {
    durations,
    count: durations.length,
    percentileOf(duration) {
      let low = 0;
      let high = durations.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (durations[middle]! < duration) low = middle + 1;
        else high = middle;
      }
      return durations.length === 0 ? 0 : low / durations.length;
    },
  };
}

/** The least number of other traces of a route for one to be slow. */
export const MIN_HISTORY = 20;

/** The durations of the traces of a route. */
export interface RouteHistory extends Times {
  /** The longest duration that isn't slow, in milliseconds. */
  readonly limit: number;
}

/**
 * Returns the durations of each route with more than {@linkcode MIN_HISTORY}
 * traces. A slow trace takes longer than 95 % of them, and than twice their
 * median.
 */
export function routeHistories(
  entries: readonly TraceEntry[],
): Map<string, RouteHistory> {
  const byRoute = new Map<string, number[]>();
  for (const entry of entries) {
    if (entry.pending || entry.running) continue;
    const key = routeKey(entry);
    const durations = byRoute.get(key);
    if (durations === undefined) byRoute.set(key, [entry.duration]);
    else durations.push(entry.duration);
  }
  const histories = new Map<string, RouteHistory>();
  for (const [key, list] of byRoute) {
    if (list.length <= MIN_HISTORY) continue;
    const times = timesOf(list);
    const p95 = percentile(times.durations, 95);
    const median = percentile(times.durations, 50);
    histories.set(key, { ...times, limit: Math.max(p95, 2 * median) });
  }
  return histories;
}

/** The spans of several traces with the same name and layer. */
export interface SpanTimes extends Times {
  /** The layer. */
  readonly layer: SpanData["layer"];
  /** The name. */
  readonly name: string;
  /** The self times in milliseconds, ascending. */
  readonly self: Float64Array;
}

/** The spans of several traces. */
export interface SpanHistory {
  /** Adds the spans of a trace, or some of them. */
  add(trace: Pick<SerializedTrace, "spans">): void;
  /** Returns the spans with the name and layer of a span. */
  timesOf(span: Pick<SpanData, "layer" | "name">): SpanTimes;
  /** Returns the spans that also ran the same statement, if it has one. */
  sameAs(span: SpanData): Times;
  /** Returns all of them. */
  all(): SpanTimes[];
}

/** Returns the history of the spans of traces. More can be added later. */
export function spanHistory(
  entries: readonly Pick<TraceEntry, "load">[] = [],
): SpanHistory {
  const groups = new Map<string, { times: number[]; self: number[] }>();
  const statements = new Map<string, number[]>();

  function read(key: string): SpanTimes {
    const { times = [], self = [] } = groups.get(key) ?? {};
    const end = key.indexOf("\n");
    const layer = key.slice(0, end) as SpanData["layer"];
    const name = key.slice(end + 1);
    return {
      ...timesOf(times),
      layer,
      name,
      self: Float64Array.from(self).sort(),
    };
  }

  const history: SpanHistory = {
    add({ spans }) {
      const self = selfTimes(spans);
      spans.forEach((span, i) => {
        if (span.attributes["app.open"] === true) return;
        const key = keyOf(span);
        let group = groups.get(key);
        if (group === undefined) {
          groups.set(key, group = { times: [], self: [] });
        }
        group.times.push(span.duration);
        group.self.push(self[i]!);
        const exact = statementKey(span);
        if (exact === undefined) return;
        const list = statements.get(exact);
        if (list === undefined) statements.set(exact, [span.duration]);
        else list.push(span.duration);
      });
    },
    timesOf: (span) => read(keyOf(span)),
    sameAs(span) {
      const exact = statementKey(span);
      return timesOf(
        exact === undefined
          ? groups.get(keyOf(span))?.times ?? []
          : statements.get(exact) ?? [],
      );
    },
    all: () => Array.from(groups.keys(), read),
  };
  for (const entry of entries) history.add(entry.load());
  return history;
}

function keyOf({ layer, name }: Pick<SpanData, "layer" | "name">): string {
  return `${layer}\n${name}`;
}

/** Returns the key of a span's statement. `undefined` if it has none. */
function statementKey(span: SpanData): string | undefined {
  const statement = statementOf(span);
  return statement && `${keyOf(span)}\n${statementShape(statement)}`;
}
