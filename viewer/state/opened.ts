/**
 * The open traces, and their derived state.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import type { Layer, SpanData } from "../../trace/types.ts";
import { type ComparedRow, compareTrees } from "../model/compare.ts";
import { criticalPath } from "../model/critical_path.ts";
import { listRows, longestGroup, type Row } from "../model/rows.ts";
import { spanMatches } from "../model/search.ts";
import type { TraceEntry } from "../model/summary.ts";
import { messageOf } from "../model/text.ts";
import { buildTree, isFailed, type TraceTree } from "../model/tree.ts";
import { query } from "./listing.ts";
import { toggled } from "./toggle.ts";
import { dataState, entries, findEntry, pending } from "./traces.ts";

/** The key of the trace to open; empty for none. */
export const wantedTrace = signal("");

/** The key of the trace to compare with; empty for none. */
export const wantedCompare = signal("");

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

/** An open trace: its tree, or the reason why there is none. */
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

/** The open trace; `undefined` for none, or if it isn't in the page. */
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

/** The group of the open trace with the longest summed duration. */
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

/** Indices of the spans that match the search. */
export const matches = computed(() =>
  query.value === "" ? [] : indicesOf((span) => spanMatches(span, query.value))
);

/** Indices of the spans that failed. */
export const failures = computed(() => indicesOf(isFailed));

function indicesOf(test: (span: SpanData) => boolean): number[] {
  const nodes = tree.value?.nodes ?? [];
  return nodes.filter(({ span }) => test(span)).map(({ index }) => index);
}

function lookUp(id: string): TraceEntry | undefined {
  if (id === "") return undefined;
  // Subscribes to both: the trace may be added, or replaced.
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
