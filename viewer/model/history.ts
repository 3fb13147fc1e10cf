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

/** A span that has ended. */
interface SpanRun {
  /** Its duration in milliseconds. */
  readonly duration: number;
  /** Its self time in milliseconds. */
  readonly self: number;
  /** The shape of its statement, if it has one. */
  readonly shape: string | undefined;
}

/** The spans of several traces. */
export type SpanHistory = ReturnType<typeof spanHistory>;

/** Creates an empty history of spans. */
export function spanHistory() {
  const byKey = new Map<
    string,
    Pick<SpanData, "layer" | "name"> & { readonly runs: SpanRun[] }
  >();
  return {
    /** Adds the spans of a trace, or some of them. */
    add({ spans }: Pick<SerializedTrace, "spans">): void {
      const selves = selfTimes(spans);
      spans.forEach((span, i) => {
        if (isOpenSpan(span)) return;
        const { layer, name, duration } = span;
        const known = byKey.get(spanKey(span)) ?? { layer, name, runs: [] };
        known.runs.push({ duration, self: selves[i]!, shape: shapeOf(span) });
        byKey.set(spanKey(span), known);
      });
    },
    /** Returns the spans that also ran the same statement, if it has one. */
    sameAs(span: SpanData): Times {
      const { runs = [] } = byKey.get(spanKey(span)) ?? {};
      const shape = shapeOf(span);
      const same = runs.filter((run) =>
        shape === undefined || run.shape === shape
      );
      return timesOf(same.map(({ duration }) => duration));
    },
    /** Returns the spans by layer and name. */
    all: () =>
      Array.from(byKey.values(), ({ layer, name, runs }): SpanTimes => ({
        ...timesOf(runs.map(({ duration }) => duration)),
        layer,
        name,
        self: timesOf(runs.map(({ self }) => self)).durations,
      })),
  };
}

function shapeOf(span: SpanData): string | undefined {
  const statement = statementOf(span);
  return statement && statementShape(statement);
}
