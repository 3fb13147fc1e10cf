/**
 * Which trace and which span are looked at, and how.
 *
 * @module
 */

import { batch, computed, effect, signal } from "@preact/signals";
import type { Layer } from "../../trace/types.ts";
import { type ComparedRow, compareTrees } from "../model/compare.ts";
import { criticalPath } from "../model/critical_path.ts";
import {
  listRows,
  longestGroup,
  pathTo,
  type Row,
  type Unit,
} from "../model/rows.ts";
import { nextPlace, spanMatches } from "../model/search.ts";
import type { TraceEntry } from "../model/summary.ts";
import { messageOf } from "../model/text.ts";
import { type TimeRange, wholeRange } from "../model/time_range.ts";
import { buildTree, isFailed, type TraceTree } from "../model/tree.ts";
import type { TraceView } from "../model/url_state.ts";
import { query } from "./listing.ts";
import { dataState, entries, findEntry, pending } from "./traces.ts";

/** The trace that a link or a click asks for; empty for none. */
export const wantedTrace = signal("");

/** The trace to compare with; empty for none. */
export const wantedCompare = signal("");

/** The trace that was marked to be compared with the next one. */
export const markedKey = signal("");

/** The row of the list that the keyboard is on. */
export const cursorKey = signal("");

/** The selected row of the waterfall: a span's id, a group's, or empty. */
export const selectedRow = signal("");

/** How the open trace is drawn. */
export const view = signal<TraceView>("waterfall");

/** Whether the list is hidden while a trace is open. */
export const listHidden = signal(false);

/** Whether the critical path is marked. */
export const showCritical = signal(true);

/** Whether repeated siblings become one row. */
export const grouped = signal(true);

/** Layers whose spans aren't shown. */
export const hiddenLayers = signal<ReadonlySet<Layer>>(new Set());

/** Spans whose children aren't shown. */
export const collapsed = signal<ReadonlySet<string>>(new Set());

/** Groups whose members are shown. */
export const expandedGroups = signal<ReadonlySet<string>>(new Set());

/** The stretch that is zoomed to; `undefined` for the whole trace. */
export const zoom = signal<TimeRange | undefined>(undefined);

/** A trace that is open: its tree, or why there is none. */
export type Opened =
  | {
    readonly kind: "tree";
    readonly entry: TraceEntry;
    readonly tree: TraceTree;
  }
  | {
    readonly kind: "broken";
    readonly entry: TraceEntry;
    readonly message: string;
  };

const openEntry = computed(() => lookUp(wantedTrace.value));
const compareEntry = computed(() => lookUp(wantedCompare.value));

/** The open trace; `undefined` if none is, or it isn't here. */
export const opened = computed(() => openUp(openEntry.value));

/** The trace to compare with. */
export const compared = computed(() => openUp(compareEntry.value));

/** The tree of the open trace. */
export const tree = computed(() =>
  opened.value?.kind === "tree" ? opened.value.tree : undefined
);

/** The critical path of the open trace. */
export const critical = computed(() =>
  tree.value === undefined ? undefined : criticalPath(tree.value)
);

/** The repeated siblings of the open trace that took the longest. */
export const repeated = computed(() => tree.value && longestGroup(tree.value));

/** The rows of the waterfall. */
export const rows = computed<readonly Row[]>(() =>
  tree.value === undefined ? [] : listRows(tree.value, {
    collapsed: collapsed.value,
    expandedGroups: expandedGroups.value,
    hiddenLayers: hiddenLayers.value,
    grouped: grouped.value,
  })
);

/** The comparison; `undefined` if none is open. */
export const comparison = computed(() => {
  const a = tree.value;
  const other = compared.value;
  if (a === undefined || other?.kind !== "tree") return undefined;
  const b = other.tree;
  const rows = compareTrees(a, b, {
    grouped: grouped.value,
    expandedGroups: expandedGroups.value,
  });
  return { a, b, rows };
});

/** The rows that the keyboard moves through. */
export const shownRows = computed<readonly (Row | ComparedRow)[]>(() =>
  comparison.value?.rows ?? rows.value
);

/** The place of the selected row; -1 if it isn't among the rows. */
export const selectedIndex = computed(() => {
  const id = selectedRow.value;
  if (id === "") return -1;
  return comparison.value?.rows.findIndex(({ a, b }) =>
    a?.id === id || b?.id === id
  ) ??
    rows.value.findIndex((row) => row.id === id);
});

/** What is selected, and the tree that it is in. */
export const selected = computed(
  (): { unit: Unit; tree: TraceTree } | undefined => {
    const row = shownRows.value[selectedIndex.value];
    const open = tree.value;
    if (row === undefined || open === undefined) return undefined;
    if ("node" in row) return { unit: row, tree: open };
    return row.a?.id === selectedRow.value
      ? { unit: row.a, tree: open }
      : { unit: row.b!, tree: comparison.value!.b };
  },
);

/** All of the open trace's time. */
export const bounds = computed(() =>
  wholeRange(tree.value?.start ?? 0, tree.value?.end ?? 0)
);

/** The part of it that is drawn. */
export const range = computed(() => zoom.value ?? bounds.value);

/** The moment that the axis calls 0: when the root span began. */
export const origin = computed(() => tree.value?.trace.startTime ?? 0);

/** Indices of the spans that contain the text that is looked for. */
export const matches = computed(() => {
  const wanted = query.value;
  if (wanted === "" || tree.value === undefined) return [];
  return tree.value.nodes
    .filter(({ span }) => spanMatches(span, wanted))
    .map(({ index }) => index);
});

/** Indices of the spans that failed. */
export const failures = computed(() =>
  tree.value?.nodes
    .filter(({ span }) => isFailed(span))
    .map(({ index }) => index) ?? []
);

function lookUp(id: string): TraceEntry | undefined {
  if (id === "") return undefined;
  // Read for their changes: the trace may come, or be replaced.
  entries.value;
  pending.value;
  return findEntry(id);
}

function openUp(entry: TraceEntry | undefined): Opened | undefined {
  if (entry === undefined || dataState.value.kind === "loading") {
    return undefined;
  }
  try {
    return { kind: "tree", entry, tree: buildTree(entry.load()) };
  } catch (error) {
    return { kind: "broken", entry, message: messageOf(error) };
  }
}

/** Opens a trace, by its key. */
export function openTrace(key: string): void {
  batch(() => {
    if (wantedTrace.value !== key) {
      selectedRow.value = "";
      zoom.value = undefined;
      collapsed.value = new Set();
      expandedGroups.value = new Set();
      hiddenLayers.value = new Set();
    }
    wantedTrace.value = key;
    wantedCompare.value = "";
    cursorKey.value = key;
  });
}

/** Goes back to the list alone. */
export function closeTrace(): void {
  batch(() => {
    wantedTrace.value = "";
    wantedCompare.value = "";
    selectedRow.value = "";
    zoom.value = undefined;
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

/** Selects a span and opens whatever hides it. */
export function revealSpan(index: number): void {
  const node = tree.value?.nodes[index];
  if (node === undefined) return;
  const path = pathTo(node);
  batch(() => {
    collapsed.value = without(collapsed.value, path.spans);
    expandedGroups.value = new Set([...expandedGroups.value, ...path.groups]);
    if (hiddenLayers.value.has(node.span.layer)) {
      hiddenLayers.value = without(hiddenLayers.value, [node.span.layer]);
    }
    selectedRow.value = node.span.id;
  });
}

/** Goes to the next of some spans after the selected one, or before it. */
export function stepThrough(places: readonly number[], step: 1 | -1): void {
  const next = nextPlace(places, selected.value?.unit.node.index ?? -1, step);
  if (next !== undefined) revealSpan(next);
}

/** Selects a row; of a comparison, the side that is selected already. */
export function selectRow(row: Row | ComparedRow): void {
  if ("node" in row) selectedRow.value = row.id;
  else {
    const isB = selected.value?.tree === comparison.value?.b;
    selectedRow.value = (isB ? row.b ?? row.a : row.a ?? row.b)!.id;
  }
}

/** Shows or hides what is below a row. */
export function toggleRow({ id, expandable }: Row | ComparedRow): void {
  if (!expandable) return;
  const set = id.startsWith("group:") ? expandedGroups : collapsed;
  set.value = toggled(set.value, id);
}

/** Collapses everything below the top, or opens everything. */
export function toggleAll(): void {
  const nodes = tree.value?.nodes ?? [];
  const open = collapsed.value.size === 0;
  batch(() => {
    expandedGroups.value = new Set();
    collapsed.value = new Set(
      open
        ? nodes.filter((node) => node.depth > 0 && node.children.length > 0)
          .map((node) => node.span.id)
        : [],
    );
  });
}

/** Shows or hides a layer. */
export function toggleLayer(layer: Layer): void {
  hiddenLayers.value = toggled(hiddenLayers.value, layer);
}

/** Shows one layer alone, or all again if it was alone. */
export function isolateLayer(layer: Layer, present: readonly Layer[]): void {
  const others = present.filter((name) => name !== layer);
  const alone = !hiddenLayers.value.has(layer) &&
    others.every((name) => hiddenLayers.value.has(name));
  hiddenLayers.value = new Set(alone ? [] : others);
}

function toggled<T>(set: ReadonlySet<T>, item: T): Set<T> {
  const copy = new Set(set);
  if (!copy.delete(item)) copy.add(item);
  return copy;
}

function without<T>(set: ReadonlySet<T>, items: readonly T[]): ReadonlySet<T> {
  const copy = new Set(set);
  for (const item of items) copy.delete(item);
  return copy.size === set.size ? set : copy;
}

// A hidden row can't stay selected: what hides it takes its place.
effect(() => {
  if (selectedRow.value === "" || selected.value || comparison.value) return;
  const node = tree.value?.byId.get(selectedRow.value);
  const listedRows = rows.value;
  for (let at = node?.parent; at; at = at.parent) {
    const id = at.span.id;
    if (listedRows.some((row) => row.id === id)) {
      selectedRow.value = id;
      return;
    }
  }
});
