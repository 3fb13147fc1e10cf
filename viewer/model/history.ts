/**
 * The durations of earlier runs, to compare a trace or span with.
 *
 * @module
 */

import { countBelow } from "../../core/collections/count_below.ts";
import type { SerializedTrace, SpanData } from "../../trace/types.ts";
import { statementOf } from "../../trace/export/attributes.ts";
import { percentile } from "../../trace/export/percentile.ts";
import { selfTimes } from "../../trace/export/self_time.ts";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import { statementShape } from "../../trace/export/statement_shape.ts";
import { routeKey } from "./filters.ts";
import type { TraceEntry } from "./summary.ts";
import { spanKey } from "./tree.ts";

/** The durations of something that ran several times. */
export type Times = ReturnType<typeof timesOf>;

/** Returns durations in any order as {@linkcode Times}. */
export function timesOf(unordered: Iterable<number>) {
  const durations = Float64Array.from(unordered).sort();
  return {
    /** The durations in milliseconds, ascending. */
    durations,
    /** How many there are. */
    count: durations.length,
    /** Returns the share of them that is shorter than a duration, from 0 to 1. */
    percentileOf: (duration: number) =>
      countBelow(durations, duration) / (durations.length || 1),
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
  const ended = entries.filter(({ pending, running }) => !pending && !running);
  const histories = new Map<string, RouteHistory>();
  for (const [key, traces] of Map.groupBy(ended, routeKey)) {
    if (traces.length <= MIN_HISTORY) continue;
    const times = timesOf(traces.map(({ duration }) => duration));
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
export type SpanHistory = ReturnType<typeof spanHistory>;

/** Returns the history of the spans of traces. More can be added later. */
export function spanHistory(
  entries: readonly Pick<TraceEntry, "load">[] = [],
) {
  /** Durations by layer and name. */
  const durations = new Map<string, number[]>();
  /** Self times by layer and name. */
  const selves = new Map<string, number[]>();
  /** Durations by layer, name and statement. */
  const statements = new Map<string, number[]>();

  function read(key: string): SpanTimes {
    const end = key.indexOf("\n");
    return {
      ...timesOf(durations.get(key) ?? []),
      layer: key.slice(0, end) as SpanData["layer"],
      name: key.slice(end + 1),
      self: timesOf(selves.get(key) ?? []).durations,
    };
  }

  /** Adds the spans of a trace, or some of them. */
  function add({ spans }: Pick<SerializedTrace, "spans">): void {
    const self = selfTimes(spans);
    spans.forEach((span, i) => {
      if (isOpenSpan(span)) return;
      const key = spanKey(span);
      append(durations, key, span.duration);
      append(selves, key, self[i]!);
      const exact = statementKey(span);
      if (exact !== undefined) append(statements, exact, span.duration);
    });
  }

  for (const entry of entries) add(entry.load());
  return {
    add,
    /** Returns the spans with the layer and name of a span. */
    timesOf: (span: Pick<SpanData, "layer" | "name">) => read(spanKey(span)),
    /** Returns the spans that also ran the same statement, if it has one. */
    sameAs(span: SpanData): Times {
      const exact = statementKey(span);
      const same = exact === undefined
        ? durations.get(spanKey(span))
        : statements.get(exact);
      return timesOf(same ?? []);
    },
    /** Returns all of them. */
    all: () => Array.from(durations.keys(), read),
  };
}

function append(lists: Map<string, number[]>, key: string, value: number) {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Returns the key of a span's statement. `undefined` if it has none. */
function statementKey(span: SpanData): string | undefined {
  const statement = statementOf(span);
  return statement && `${spanKey(span)}\n${statementShape(statement)}`;
}
