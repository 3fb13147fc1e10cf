/**
 * The order of the list.
 *
 * @module
 */

import type { TraceEntry } from "./summary.ts";

/** What the list can be ordered by. */
export type ListColumn =
  | "method"
  | "path"
  | "statusCode"
  | "duration"
  | "spanCount"
  | "startTime";

/** A column and a direction. */
export interface ListOrder {
  /** What to order by. */
  readonly column: ListColumn;
  /** Whether the greatest comes first. */
  readonly descending: boolean;
}

/** The order that the list begins with. */
export const NEWEST_FIRST: ListOrder = {
  column: "startTime",
  descending: true,
};

/**
 * The order that a click on a column's head asks for: the other direction if
 * the list is ordered by it, else the one that is looked for more often.
 */
export function nextOrder(order: ListOrder, column: ListColumn): ListOrder {
  return {
    column,
    descending: order.column === column
      ? !order.descending
      : column !== "method" && column !== "path",
  };
}

/** Orders entries; equal ones stay newest first. */
export function sortEntries(
  entries: readonly TraceEntry[],
  { column, descending }: ListOrder,
): TraceEntry[] {
  // The order that live traces are listed in: worth a way of its own.
  if (column === "startTime" && descending) {
    return entries.toSorted((a, b) => b.startTime - a.startTime);
  }
  const sign = descending ? -1 : 1;
  return entries.toSorted((a, b) => {
    const x = a[column];
    const y = b[column];
    if (x < y) return -sign;
    if (x > y) return sign;
    return b.startTime - a.startTime;
  });
}
