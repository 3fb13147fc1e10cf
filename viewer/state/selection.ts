/**
 * The cursor of the list, the open trace and its selected row.
 *
 * @module
 */

import { batch, computed, effect, signal } from "@preact/signals";
import type { ComparedRow } from "../model/compare.ts";
import { clamp } from "../model/numbers.ts";
import { overlaps, pathTo, type Row, type Unit } from "../model/rows.ts";
import { nextPlace } from "../model/search.ts";
import type { Work } from "../model/work.ts";
import type { TraceTree } from "../model/tree.ts";
import type { TraceView } from "../model/url_state.ts";
import { found, openFound } from "./dev_command.ts";
import { listed, listTab, routes, setFilters } from "./listing.ts";
import {
  collapsed,
  expandedGroups,
  hiddenLayers,
  toggled,
  tree,
  wantedCompare,
  wantedTrace,
  without,
} from "./opened.ts";
import {
  comparison,
  failures,
  highlighted,
  rows,
  shownRows,
  sortedWork,
} from "./rows.ts";
import { findEntry } from "./traces.ts";
import { range, resetZoom } from "./zoom.ts";

/** The trace that was marked to be compared with the next one. */
export const markedKey = signal("");

/** The row of the list that the keyboard is on. */
export const cursorKey = signal("");

/** The selected row of the waterfall: a span's id, a group's, or empty. */
export const selectedRow = signal("");

/** The view of the open trace. */
export const view = signal<TraceView>("waterfall");

/** The row of the table of repeated work that the keyboard is on. */
export const workCursor = signal("");

/** Whether the list is hidden while a trace is open. */
export const listHidden = signal(false);

/** The index of the selected row. -1 if it isn't among the rows. */
export const selectedIndex = computed(() => {
  const id = selectedRow.value;
  if (id === "") return -1;
  return shownRows.value.findIndex((row) =>
    "node" in row ? row.id === id : row.a?.id === id || row.b?.id === id
  );
});

/** The row that is selected. */
const rowOfSelection = computed(() => shownRows.value[selectedIndex.value]);

/** The selected unit, and its tree. */
export const selected = computed(
  (): { unit: Unit; tree: TraceTree } | undefined => {
    const row = rowOfSelection.value;
    const open = tree.value;
    if (row === undefined || open === undefined) return undefined;
    if ("node" in row) return { unit: row, tree: open };
    return row.a?.id === selectedRow.value
      ? { unit: row.a, tree: open }
      : { unit: row.b!, tree: comparison.value!.b };
  },
);

/** Opens a trace by its key, or none if that is empty. */
export function openTrace(key: string): void {
  batch(() => {
    if (wantedTrace.value !== key) {
      selectedRow.value = "";
      resetZoom();
      highlighted.value = "";
      collapsed.value = new Set();
      expandedGroups.value = new Set();
      hiddenLayers.value = new Set();
    }
    wantedTrace.value = key;
    wantedCompare.value = "";
    // Without a trace, the cursor stays at the last one.
    if (key !== "") cursorKey.value = key;
  });
}

/** Returns to the list. */
export function closeTrace(): void {
  batch(() => {
    openTrace("");
    listHidden.value = false;
  });
}

/** Marks a trace to be compared, or compares it with the marked one. */
export function markOrCompare(key: string): void {
  const marked = markedKey.value;
  if (marked === "" || marked === key || findEntry(marked) === undefined) {
    markedKey.value = marked === key ? "" : key;
    return;
  }
  batch(() => {
    openTrace(marked);
    wantedCompare.value = key;
    markedKey.value = "";
  });
}

/** Selects a span, and expands and shows what hides it. */
export function revealSpan(index: number): void {
  const node = tree.value?.nodes[index];
  if (node === undefined) return;
  const path = pathTo(node);
  batch(() => {
    collapsed.value = without(collapsed.value, path.spans);
    expandedGroups.value = new Set([...expandedGroups.value, ...path.groups]);
    hiddenLayers.value = without(hiddenLayers.value, [node.span.layer]);
    if (!overlaps(node, range.value)) resetZoom();
    selectedRow.value = node.span.id;
  });
}

/**
 * Selects the next or previous failed span. The first one is the first that
 * threw.
 */
export function stepThroughErrors(step: 1 | -1): void {
  const places = failures.value;
  const at = places.indexOf(selected.value?.unit.node.index ?? -1);
  const next = at >= 0 ? at + step : step === 1 ? 0 : -1;
  const place = places.at(next % places.length);
  if (place !== undefined) revealSpan(place);
}

/** Highlights the spans of repeated work in a view, and selects the first. */
export function showWork({ id, nodes }: Work, where: TraceView): void {
  batch(() => {
    view.value = where;
    workCursor.value = highlighted.value = id;
    revealSpan(nodes[0]!.index);
  });
}

/** Selects the next or previous one of some spans. */
export function stepThrough(places: readonly number[], step: 1 | -1): void {
  const next = nextPlace(places, selected.value?.unit.node.index ?? -1, step);
  if (next !== undefined) revealSpan(next);
}

/** Selects a row. In a comparison, the selected side stays the same. */
export function selectRow(row: Row | ComparedRow): void {
  if ("node" in row) selectedRow.value = row.id;
  else {
    const isB = selected.value?.tree === comparison.value?.b;
    selectedRow.value = (isB ? row.b ?? row.a : row.a ?? row.b)!.id;
  }
}

/** Expands or collapses a row. */
export function toggleRow({ id, expandable }: Row | ComparedRow): void {
  if (!expandable) return;
  const set = id.startsWith("group:") ? expandedGroups : collapsed;
  set.value = toggled(set.value, id);
}

/** Collapses or expands everything below the top. */
export function toggleAll(): void {
  const below = tree.value?.nodes.slice(1) ?? [];
  const parents = below.filter(({ children }) => children.length > 0);
  const isOpen = collapsed.value.size === 0;
  batch(() => {
    expandedGroups.value = new Set();
    collapsed.value = new Set(isOpen ? parents.map(({ span }) => span.id) : []);
  });
}

/**
 * Moves the cursor of the list. If a trace is open, this opens the next one.
 */
export function moveInList(by: number): void {
  const list = cursorList();
  const from = list.findIndex(({ key }) => key === cursorKey.value);
  const next = step(list, from, by);
  if (next === undefined) return;
  if (wantedTrace.value !== "" && listTab.value === "traces") {
    openTrace(next.key);
  } else cursorKey.value = next.key;
}

/** Opens the trace or route at the cursor of the list. */
export function openAtCursor(): void {
  const tab = listTab.value;
  const key = cursorKey.value;
  if (tab === "findings") {
    const item = found.value.find((item) => item.key === key);
    if (item !== undefined) openFound(item);
    return;
  }
  const list = cursorList();
  const isRoute = tab === "routes";
  const item = list.find((item) => item.key === key) ??
    (isRoute ? undefined : list[0]);
  if (item !== undefined) (isRoute ? openRoute : openTrace)(item.key);
}

/** The items that the cursor moves through. */
function cursorList(): readonly { readonly key: string }[] {
  const lists = {
    traces: listed,
    routes,
    findings: found,
    cache: { value: [] },
  };
  return lists[listTab.value].value;
}

/** Shows the traces of one route. */
export function openRoute(route: string): void {
  setFilters({ route });
  listTab.value = "traces";
}

/** Moves the selection of the open trace, or of the comparison. */
export function moveInRows(by: number): void {
  const row = step(shownRows.value, selectedIndex.value, by);
  if (row !== undefined) selectRow(row);
}

/** Moves the cursor of the table of repeated work. */
export function moveInWork(by: number): void {
  const list = sortedWork.value;
  const from = list.findIndex(({ id }) => id === workCursor.value);
  const next = step(list, from, by);
  if (next !== undefined) workCursor.value = next.id;
}

/** Shows the spans at the cursor of the table in the waterfall. */
export function openWorkAtCursor(): void {
  const list = sortedWork.value;
  const work = list.find(({ id }) => id === workCursor.value) ?? list[0];
  if (work !== undefined) showWork(work, "waterfall");
}

/** Expands the selected row, or moves to the first row below it. */
export function stepInto(): void {
  const row = rowOfSelection.value;
  if (row === undefined) moveInRows(1);
  else if (row.expandable && !row.expanded) toggleRow(row);
  else if (row.expandable) moveInRows(1);
}

/** Collapses the selected row, or moves to its parent. */
export function stepOut(): void {
  const row = rowOfSelection.value;
  if (row === undefined) return;
  const parent = shownRows.value.slice(0, selectedIndex.value)
    .findLast(({ depth }) => depth < row.depth);
  if (row.expandable && row.expanded) toggleRow(row);
  else if (parent !== undefined) selectRow(parent);
}

/** Expands or collapses the selected row. */
export function toggleSelected(): void {
  if (rowOfSelection.value) toggleRow(rowOfSelection.value);
}

/** Returns the item at a distance from an index, which is -1 for no cursor. */
function step<Item>(
  list: readonly Item[],
  from: number,
  by: number,
): Item | undefined {
  if (from >= 0) return list[clamp(from + by, 0, list.length - 1)];
  // Without a cursor, a step up selects the last item, and others the first.
  return by < 0 && by !== -Infinity ? list.at(-1) : list[0];
}

// When the selected row is hidden, its closest visible ancestor is selected.
effect(() => {
  if (selectedRow.value === "" || selected.value || comparison.value) return;
  let above = tree.value?.byId.get(selectedRow.value)?.parent;
  const isRow = (id: string) => rows.value.some((row) => row.id === id);
  while (above && !isRow(above.span.id)) above = above.parent;
  if (above) selectedRow.value = above.span.id;
});
