/**
 * The traces of the page: shown, running, and waiting while the user reads.
 *
 * @module
 */

import { batch, computed, effect, signal, untracked } from "@preact/signals";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import { formatPlural } from "../model/format.ts";
import { isSame, joinEntries } from "../model/pieces.ts";
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

/** Whether the pointer or the keyboard is in the list. */
export const listInUse = signal(false);

/** Whether new traces wait, so that no row moves under a reader. */
export const holding = computed(() =>
  paused.value || !listAtTop.value || listInUse.value
);

/** Counts the times that traces were added which the user asked for. */
export const additions = signal(0);

/** The HTTP methods of all traces, in alphabetical order. */
export const methods = signal<readonly string[]>([]);

/** All traces by id, shown or held. */
const known = new Map<string, TraceEntry>();

/** The keys of traces by the ids of other traces that belong to them. */
const keys = new Map<string, string>();

/** Returns the trace with an id, a linked id, or the id of its root span. */
export function findEntry(id: string): TraceEntry | undefined {
  // Reads both signals always, because a trace may be added or replaced.
  const shown = entries.value;
  const running = pending.value;
  if (id === "") return undefined;
  const isIt = (entry: TraceEntry) =>
    entry.id === id || entry.rootSpanId === id;
  return known.get(keyOf(id)) ?? shown.find(isIt) ?? running.find(isIt);
}

/** Whether a trace with an id or a linked id has arrived. */
export function hasEntry(id: string): boolean {
  // Reads both signals, because a trace may be added.
  const count = entries.value.length + held.value.length;
  return count > 0 && known.has(keyOf(id));
}

/** Returns the key of the trace that a trace id belongs to. */
export function keyOf(id: string): string {
  return known.has(id) ? id : keys.get(id) ?? id;
}

/**
 * Shows traces at once. Pieces of one trace are joined.
 *
 * @returns How many traces are new to the page, how many it had in part, and
 * how many it had.
 */
export function addEntries(added: readonly TraceEntry[]) {
  additions.value++;
  return receive(added, false, false);
}

/**
 * Adds live traces. They wait while the tail is paused, or while somebody reads
 * the list.
 */
export function receiveEntries(added: readonly TraceEntry[]): void {
  receive(added, true, holding.value);
}

function receive(
  added: readonly TraceEntry[],
  isUpdate: boolean,
  hold: boolean,
) {
  const fresh = new Map<string, TraceEntry>();
  let same = 0;
  let joined = 0;
  for (const entry of added) {
    const parts = partsOf(entry);
    let whole = entry;
    for (const part of parts) whole = joinEntries(part, whole, isUpdate);
    const isNew = parts.every(({ key }) => fresh.has(key));
    if (isNew) fresh.set(whole.key, whole);
    else if (parts.every((part) => isSame(part, whole))) same++;
    else {
      joined++;
      fresh.delete(whole.key);
    }
    store(whole, parts, fresh);
    for (const { method } of [whole, ...whole.requests]) noteMethod(method);
  }
  batch(() => {
    if (same + joined > 0) {
      entries.value = latest(entries.value);
      if (held.value.length > 0) held.value = latest(held.value);
    }
    const ended = endRunning(added);
    if (fresh.size === 0) return;
    // The row of a running request stays where it is.
    const list = hold && !ended ? held : entries;
    list.value = keepNewest([...list.value, ...fresh.values()]);
  });
  return { fresh: fresh.size, joined, same };
}

/** Returns the traces of the page that a trace is a piece of. */
function partsOf({ id, linkedIds }: TraceEntry): readonly TraceEntry[] {
  const parts = [id, ...linkedIds].map((id) => known.get(keyOf(id)));
  return [...new Set(parts)].filter((part) => part !== undefined);
}

/** Stores a trace instead of its pieces. */
function store(
  whole: TraceEntry,
  parts: readonly TraceEntry[],
  fresh: Map<string, TraceEntry>,
): void {
  for (const part of parts) {
    if (part.key === whole.key) continue;
    known.delete(part.key);
    fresh.delete(part.key);
    keys.set(part.key, whole.key);
  }
  known.set(whole.key, whole);
  keys.delete(whole.key);
  for (const id of whole.linkedIds) {
    if (id !== whole.key) keys.set(id, whole.key);
  }
}

/** Returns the latest state of traces, at the place of their first piece. */
function latest(list: readonly TraceEntry[]): TraceEntry[] {
  const seen = new Set<TraceEntry>();
  for (const { key } of list) {
    const entry = known.get(keyOf(key));
    if (entry !== undefined) seen.add(entry);
  }
  return [...seen];
}

/** Removes the running requests that have ended. Returns whether any has. */
function endRunning(ended: readonly TraceEntry[]): boolean {
  if (pending.value.length === 0) return false;
  const byKey = Map.groupBy(pending.value, ({ id }) => keyOf(id));
  const done = new Set<string>();
  for (const entry of ended) {
    for (const { rootSpanId } of byKey.get(keyOf(entry.key)) ?? []) {
      const { spans, metadata } = entry.load();
      const span = spans.find(({ id }) => id === rootSpanId);
      const isRunning = span ? isOpenSpan(span) : !metadata.droppedSpans;
      if (!isRunning) done.add(rootSpanId);
    }
  }
  discardPending(done);
  return done.size > 0;
}

function noteMethod(method: string): void {
  if (method === "" || methods.value.includes(method)) return;
  methods.value = [...methods.value, method].sort();
}

function keepNewest(list: TraceEntry[]): TraceEntry[] {
  const surplus = list.length - MAX_TRACES;
  if (surplus <= 0) return list;
  for (const { key, linkedIds } of list.slice(0, surplus)) {
    known.delete(key);
    for (const id of linkedIds) keys.delete(id);
  }
  return list.slice(surplus);
}

/** Shows the traces that wait. */
export function showHeld(): void {
  batch(() => {
    additions.value++;
    if (held.value.length === 0) return;
    entries.value = keepNewest([...entries.value, ...held.value]);
    held.value = [];
  });
}

effect(() => {
  if (!holding.value) untracked(showHeld);
});

/** Pauses the live tail, or resumes it. */
export function togglePaused(): void {
  paused.value = !paused.value;
}

/** Stores whether the pointer or the keyboard is in the list. */
export function setListInUse(inUse: boolean): void {
  listInUse.value = inUse;
}

/** Adds running requests. */
export function addPending(added: readonly TraceEntry[]): void {
  if (added.length > 0) {
    pending.value = [...pending.value, ...added].slice(-MAX_PENDING);
  }
}

/** Removes running requests, by their root spans. */
export function discardPending(rootSpanIds: ReadonlySet<string>): void {
  if (rootSpanIds.size === 0) return;
  pending.value = pending.value.filter((entry) =>
    !rootSpanIds.has(entry.rootSpanId)
  );
}

/** Removes all traces. */
export function clearEntries(): void {
  known.clear();
  keys.clear();
  entries.value = held.value = pending.value = [];
}

/** The number of traces, in words. */
export const countText = computed(() =>
  formatPlural(entries.value.length, "trace")
);
