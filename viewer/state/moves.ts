/**
 * Moves through the list, and through the rows of a trace.
 *
 * @module
 */

import { clamp } from "../model/numbers.ts";
import { listed, listTab, routes, setFilters } from "./listing.ts";
import { shownRows, wantedTrace } from "./opened.ts";
import {
  cursorKey,
  openTrace,
  selectedIndex,
  selectRow,
  toggleRow,
} from "./selection.ts";

/**
 * Moves the cursor of the list. While a trace is open, the next one is opened in
 * its place.
 */
export function moveInList(by: number): void {
  const list = listTab.value === "routes" ? routes.value : listed.value;
  const from = list.findIndex(({ key }) => key === cursorKey.value);
  const to = step(from, by, list.length);
  const key = list[to]?.key;
  if (key === undefined) return;
  if (wantedTrace.value !== "" && listTab.value === "traces") openTrace(key);
  else cursorKey.value = key;
}

/** Opens the trace or route at the cursor of the list. */
export function openAtCursor(): void {
  if (listTab.value === "routes") {
    const route = routes.value.find(({ key }) => key === cursorKey.value);
    if (route !== undefined) openRoute(route.key);
    return;
  }
  const entry = listed.value.find(({ key }) => key === cursorKey.value) ??
    listed.value[0];
  if (entry !== undefined) openTrace(entry.key);
}

/** Shows the traces of one route. */
export function openRoute(route: string): void {
  setFilters({ route });
  listTab.value = "traces";
}

/** Moves the selection of the open trace, or of the comparison. */
export function moveInRows(by: number): void {
  const to = step(selectedIndex.value, by, shownRows.value.length);
  const row = shownRows.value[to];
  if (row !== undefined) selectRow(row);
}

/** Opens the selected row, or goes to the first row below it. */
export function stepInto(): void {
  const row = shownRows.value[selectedIndex.value];
  if (row === undefined) moveInRows(1);
  else if (row.expandable && !row.expanded) toggleRow(row);
  else if (row.expandable) moveInRows(1);
}

/** Closes the selected row, or goes to the row above it in the tree. */
export function stepOut(): void {
  const at = selectedIndex.value;
  const row = shownRows.value[at];
  if (row === undefined) return;
  if (row.expandable && row.expanded) {
    toggleRow(row);
    return;
  }
  const parent = shownRows.value.slice(0, at).findLast(({ depth }) =>
    depth < row.depth
  );
  if (parent !== undefined) selectRow(parent);
}

/** Expands or collapses the selected row. */
export function toggleSelected(): void {
  const row = shownRows.value[selectedIndex.value];
  if (row !== undefined) toggleRow(row);
}

function step(from: number, by: number, length: number): number {
  // Without a cursor, a step down leads to the first row, a step up to the last.
  const start = from >= 0 || by === -Infinity ? from : by < 0 ? length : -1;
  const to = from < 0 && Math.abs(by) > 1 ? start + Math.sign(by) : start + by;
  return clamp(to, 0, length - 1);
}
