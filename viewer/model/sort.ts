/**
 * The order of the list and of the table of routes.
 *
 * @module
 */

import type { TraceEntry } from "./summary.ts";

/** The columns that order the list. */
export type ListColumn =
  | "method"
  | "path"
  | "statusCode"
  | "duration"
  | "spanCount"
  | "startTime";

/** A column and a direction. */
export interface Order<Column extends string> {
  /** The column. */
  readonly column: Column;
  /** Whether the greatest comes first. */
  readonly descending: boolean;
}

/** The order of the list. */
export type ListOrder = Order<ListColumn>;

/** The order that the list begins with. */
export const NEWEST_FIRST: ListOrder = {
  column: "startTime",
  descending: true,
};

/**
 * Returns the order after a click on a column's head: the other direction for
 * the same column, else the direction that readers need more often.
 */
export function nextOrder<Column extends string>(
  order: Order<Column>,
  column: Column,
): Order<Column> {
  return {
    column,
    descending: order.column === column
      ? !order.descending
      : !["method", "path", "route"].includes(column),
  };
}

/** Orders entries, equal ones newest first. */
export function sortEntries(
  entries: readonly TraceEntry[],
  order: ListOrder,
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
export function comparison<
  Column extends string,
  Item extends Readonly<Record<Column, string | number>>,
>({ column, descending }: Order<Column>): (a: Item, b: Item) => number {
  const sign = descending ? -1 : 1;
  return ({ [column]: x }, { [column]: y }) => x < y ? -sign : x > y ? sign : 0;
}
