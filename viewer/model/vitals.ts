/**
 * The web vitals of a page load, and its moments on the axis.
 *
 * @module
 */

import { ACTION } from "../../trace/export/semantics.ts";
import { formatDuration } from "./format.ts";
import { numberOf } from "./process.ts";
import type { TraceTree } from "./tree.ts";

/** Names, and the largest values that are good and improvable. */
const VITALS = [
  ["LCP", "Largest contentful paint", 2500, 4000],
  ["CLS", "Cumulative layout shift", 0.1, 0.25],
  ["INP", "Interaction to next paint", 200, 500],
  ["TTFB", "Time to first byte", 800, 1800],
] as const;

/** A moment of a page load. */
export type VitalMark = ReturnType<typeof vitalsOf>["marks"][number];

/** Returns the vitals of a trace. The latest values count. */
export function vitalsOf({ clients, start }: TraceTree) {
  const valueOf = (name: string) =>
    clients.map(({ span }) => numberOf(span, `app.vital.${name.toLowerCase()}`))
      .findLast((value) => value !== undefined);
  const vitals = VITALS.flatMap(([name, title, good, improvable]) => {
    const value = valueOf(name);
    if (value === undefined) return [];
    const text = name === "CLS"
      ? String(Number(value.toFixed(3)))
      : formatDuration(value);
    const rating = value <= good
      ? "good"
      : value <= improvable
      ? "improvable"
      : "poor";
    return [{ name, title, text, rating }];
  });

  const moments = new Map<string, number>();
  const paint = valueOf("LCP");
  if (paint !== undefined) {
    moments.set("LCP", clients[0]!.span.startTime + paint);
  }
  // The page's document is complete when this span ends.
  const load = clients.find(({ span, parent }) =>
    span.name === "dom" && parent?.span.attributes[ACTION] === "load"
  );
  if (load !== undefined) moments.set("load", load.span.endTime);
  const marks = Array.from(moments, ([name, time]) => ({
    name,
    /** The moment, in epoch milliseconds. */
    time,
    /** Its name and time. */
    text: `${name}: ${formatDuration(time - start)}`,
  }));
  return { vitals, marks };
}
