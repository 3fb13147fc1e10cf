/**
 * The traces of the page: shown, running, and waiting while the user reads.
 *
 * @module
 */

import { batch, computed, signal } from "@preact/signals";
import { formatPlural } from "../model/format.ts";
import type { TraceEntry } from "../model/summary.ts";

/** Maximum traces of the page. The oldest are dropped first. */
export const MAX_TRACES = 10_000;

/** Maximum running requests. */
const MAX_PENDING = 500;

/** The state of the traces that the page contains. */
export type DataState =
  | { readonly kind: "loading" }
  | { readonly kind: "ready" }
  | { readonly kind: "broken"; readonly message: string };

/** Whether the traces that the page contains have been read. */
export const dataState = signal<DataState>({ kind: "loading" });

/** The traces that are shown, in order of arrival. */
export const entries = signal<readonly TraceEntry[]>([]);

/** Requests that are still running, in order of arrival. */
export const pending = signal<readonly TraceEntry[]>([]);

/** Received traces that aren't shown yet. */
export const held = signal<readonly TraceEntry[]>([]);

/** Whether the live tail is paused. */
export const paused = signal(false);

/** Whether the list is scrolled to its top. */
export const listAtTop = signal(true);

/** A text about the traces that wait, such as `12 new`; empty for none. */
export const heldText = computed(() =>
  held.value.length === 0 ? "" : `${held.value.length} new`
);

/** The HTTP methods of all traces, in alphabetical order. */
export const methods = signal<readonly string[]>([]);

/** All traces by key, shown or held. */
const known = new Map<string, TraceEntry>();

/** Returns the trace with a key, or the newest with a trace id. */
export function findEntry(id: string): TraceEntry | undefined {
  // Reads both signals always, because a trace may be added or replaced.
  const shown = entries.value;
  const running = pending.value;
  if (id === "") return undefined;
  return known.get(id) ??
    shown.findLast((entry) => entry.id === id) ??
    running.findLast((entry) => entry.key === id || entry.id === id);
}

/**
 * Shows traces at once. Known traces are replaced.
 *
 * @returns How many traces the page didn't have, and how many it had.
 */
export function addEntries(added: readonly TraceEntry[]) {
  return receive(added, false);
}

/**
 * Adds live traces. They wait while the tail is paused or the list isn't
 * scrolled to its top, so that no row moves under a reader.
 */
export function receiveEntries(added: readonly TraceEntry[]): void {
  receive(added, paused.value || !listAtTop.value);
}

function receive(added: readonly TraceEntry[], hold: boolean) {
  // A trace may occur twice. Its last record counts.
  const records = new Map(added.map((entry) => [entry.key, entry]));
  const fresh = [...records.values()].filter(({ key }) => !known.has(key));
  for (const entry of added) {
    known.set(entry.key, entry);
    noteMethod(entry.method);
  }
  batch(() => {
    if (fresh.length < records.size) {
      const swap = (entry: TraceEntry) => records.get(entry.key) ?? entry;
      entries.value = entries.value.map(swap);
      if (held.value.length > 0) held.value = held.value.map(swap);
    }
    if (pending.value.length > 0) {
      const running = pending.value.filter(({ key }) => !known.has(key));
      if (running.length < pending.value.length) pending.value = running;
    }
    if (fresh.length === 0) return;
    const list = hold ? held : entries;
    list.value = keepNewest([...list.value, ...fresh]);
  });
  return { fresh: fresh.length, known: records.size - fresh.length };
}

function noteMethod(method: string): void {
  if (method === "" || methods.value.includes(method)) return;
  methods.value = [...methods.value, method].sort();
}

function keepNewest(list: TraceEntry[]): TraceEntry[] {
  const surplus = list.length - MAX_TRACES;
  if (surplus <= 0) return list;
  for (const { key } of list.slice(0, surplus)) known.delete(key);
  return list.slice(surplus);
}

/** Shows the traces that wait. */
export function showHeld(): void {
  if (held.value.length === 0) return;
  batch(() => {
    entries.value = keepNewest([...entries.value, ...held.value]);
    held.value = [];
  });
}

/** Pauses the live tail, or resumes it and shows the traces that wait. */
export function togglePaused(): void {
  paused.value = !paused.value;
  if (!paused.value) showHeld();
}

/** Stores whether the list is at its top. */
export function setListAtTop(atTop: boolean): void {
  if (listAtTop.value === atTop) return;
  listAtTop.value = atTop;
  if (atTop && !paused.value) showHeld();
}

/** Adds a running request. */
export function addPending(added: readonly TraceEntry[]): void {
  const fresh = added.filter(({ key }) => !known.has(key));
  if (fresh.length > 0) {
    pending.value = [...pending.value, ...fresh].slice(-MAX_PENDING);
  }
}

/** Removes running requests that aren't kept. */
export function discardPending(keys: ReadonlySet<string>): void {
  if (keys.size === 0) return;
  pending.value = pending.value.filter(({ key }) => !keys.has(key));
}

/** Removes all running requests, after their ends were missed. */
export function clearPending(): void {
  if (pending.value.length > 0) pending.value = [];
}

/** Removes all traces. */
export function clearEntries(): void {
  known.clear();
  entries.value = held.value = pending.value = [];
}

/** The number of traces, in words. */
export const countText = computed(() =>
  formatPlural(entries.value.length, "trace")
);
