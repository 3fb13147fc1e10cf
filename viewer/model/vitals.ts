/**
 * The web vitals of a page load, and its moments on the axis.
 *
 * @module
 */

import { ACTION } from "../../trace/export/semantics.ts";
import { formatDuration } from "./format.ts";
import { numberOf } from "./process.ts";
import type { TraceTree } from "./tree.ts";

/** A web vital. */
export interface Vital {
  /** Its short name, such as `LCP`. */
  readonly name: string;
  /** Its long name. */
  readonly title: string;
  /** Its value with its unit. */
  readonly text: string;
  /** Its rating. */
  readonly rating: "good" | "improvable" | "poor";
}

/** A moment of a page load. */
export interface VitalMark {
  /** Its name, such as `LCP`. */
  readonly name: string;
  /** The moment, in epoch milliseconds. */
  readonly time: number;
  /** Its name and time. */
  readonly text: string;
}

/** Names, and the largest values that are good and improvable. */
const VITALS = [
  ["LCP", "Largest contentful paint", 2500, 4000],
  ["CLS", "Cumulative layout shift", 0.1, 0.25],
  ["INP", "Interaction to next paint", 200, 500],
  ["TTFB", "Time to first byte", 800, 1800],
] as const;

/** Returns the vitals of a trace. The latest values count. */
export function vitalsOf({ clients, start }: TraceTree) {
  const vitals: Vital[] = [];
  const marks: VitalMark[] = [];
  const addMark = (name: string, time: number) => {
    marks.push({
      name,
      time,
      text: `${name}: ${formatDuration(time - start)}`,
    });
  };
  for (const [name, title, good, improvable] of VITALS) {
    const attribute = `app.vital.${name.toLowerCase()}`;
    const found = clients
      .findLast(({ span }) => numberOf(span, attribute) !== undefined);
    if (found === undefined) continue;
    const value = numberOf(found.span, attribute)!;
    vitals.push({
      name,
      title,
      text: name === "CLS" ? String(Number(value.toFixed(3))) : formatDuration(
        value,
      ),
      rating: value <= good
        ? "good"
        : value <= improvable
        ? "improvable"
        : "poor",
    });
    if (name === "LCP") addMark(name, clients[0]!.span.startTime + value);
  }
  // The page's document is complete when this span ends.
  const load = clients.find(({ span, parent }) =>
    span.name === "dom" && parent?.span.attributes[ACTION] === "load"
  );
  if (load !== undefined) addMark("load", load.span.endTime);
  return { vitals, marks };
}
