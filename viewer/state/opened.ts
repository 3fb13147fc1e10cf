/**
 * The open traces, and their derived state.
 *
 * @module
 */

import { computed, type Signal, signal } from "@preact/signals";
import type { Layer } from "../../trace/types.ts";
import { criticalPath } from "../model/critical_path.ts";
import type { TraceEntry } from "../model/summary.ts";
import { messageOf } from "../model/text.ts";
import { buildTree, type TraceTree } from "../model/tree.ts";
import { dataState, findEntry } from "./traces.ts";

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

/** The open trace. `undefined` for none, or if the page doesn't have it. */
export const openedTrace = openedOf(wantedTrace);

/** The trace to compare with. */
export const comparedTrace = openedOf(wantedCompare);

/** The tree of the open trace. */
export const tree = computed(() => openedTrace.value?.tree);

/** The critical path of the open trace. */
export const critical = computed(() => tree.value && criticalPath(tree.value));

/** An open trace, with its tree or its error. */
interface Opened {
  readonly entry: TraceEntry;
  readonly tree?: TraceTree;
  readonly failure?: string;
}

/** Opens the trace with a signal's key, again when its record changes. */
function openedOf(key: Signal<string>) {
  const entry = computed(() => findEntry(key.value));
  return computed((): Opened | undefined => {
    if (!entry.value || dataState.value.kind === "loading") return undefined;
    try {
      return { entry: entry.value, tree: buildTree(entry.value.load()) };
    } catch (error) {
      return { entry: entry.value, failure: messageOf(error) };
    }
  });
}

/** Shows or hides a layer. */
export function toggleLayer(layer: Layer): void {
  hiddenLayers.value = toggled(hiddenLayers.value, layer);
}

/** Returns the set with an item added, or removed if it was in there. */
export function toggled<T>(set: ReadonlySet<T>, item: T): ReadonlySet<T> {
  return set.has(item) ? without(set, [item]) : new Set(set).add(item);
}

/** Returns the set without some items; the same set if it has none of them. */
export function without<T>(
  set: ReadonlySet<T>,
  items: readonly T[],
): ReadonlySet<T> {
  const rest = new Set([...set].filter((item) => !items.includes(item)));
  return rest.size === set.size ? set : rest;
}

/** Shows only one layer, or all again. */
export function isolateLayer(layer: Layer, present: readonly Layer[]): void {
  const others = present.filter((name) => name !== layer);
  const alone = !hiddenLayers.value.has(layer) &&
    others.every((name) => hiddenLayers.value.has(name));
  hiddenLayers.value = new Set(alone ? [] : others);
}
