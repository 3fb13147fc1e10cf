/**
 * Opens a trace at what the list says about it.
 *
 * @module
 */

import { batch, effect, signal } from "@preact/signals";
import { slowestRow } from "../model/compare.ts";
import { routeKey } from "../model/filters.ts";
import { formatCount, formatShare } from "../model/format.ts";
import { routeHistories, type RouteHistory } from "../model/history.ts";
import { type Run, runsByRoute } from "../model/listing.ts";
import type { TraceEntry } from "../model/summary.ts";
import { wantedCompare } from "./opened.ts";
import { comparison, sortedWork } from "./rows.ts";
import * as selection from "./selection.ts";
import { entries } from "./traces.ts";

/** The minimum time between two looks at all durations, in milliseconds. */
const REST = 1_000;

const histories = signal<ReadonlyMap<string, RouteHistory>>(new Map());

let timer: ReturnType<typeof setTimeout> | undefined;

// Later, because a look at 10,000 traces takes longer than to show one.
effect(() => {
  if (entries.value.length === 0) return;
  timer ??= setTimeout(() => {
    timer = undefined;
    histories.value = routeHistories(entries.peek());
  }, REST);
});

/**
 * Returns how a trace's duration compares with its route, in words. `undefined`
 * for a route with few traces.
 */
export function placeText(entry: TraceEntry): string | undefined {
  const history = histories.value.get(routeKey(entry));
  if (history === undefined || entry.running) return undefined;
  const share = formatShare(history.percentileOf(entry.duration));
  return `slower than ${share} of ${formatCount(history.count)}`;
}

/** Returns why a trace is slow. `undefined` if it isn't. */
export function slowness(entry: TraceEntry): string | undefined {
  const limit = histories.value.get(routeKey(entry))?.limit;
  if (limit === undefined || entry.duration <= limit) return undefined;
  return `This trace is ${placeText(entry)} traces of its route, and than ` +
    "twice their median. Compare it with the median";
}

/** Opens a trace at the span that threw. */
export function openError({ key }: TraceEntry): void {
  batch(() => {
    open(key);
    selection.stepThroughErrors(1);
  });
}

/** Opens a trace at its repeated spans. */
export function openRepeats({ key }: TraceEntry): void {
  batch(() => {
    open(key);
    const queries = sortedWork.value
      .filter(({ kind }) => kind === "statement")
      .toSorted((a, b) => b.count - a.count);
    if (queries[0] !== undefined) selection.showWork(queries[0], "table");
  });
}

/** Compares a slow trace with the one whose duration is its route's median. */
export function openSlow(entry: TraceEntry): void {
  const others = runsOf(routeKey(entry)).filter((run) => run.entry !== entry);
  compare(others[(others.length - 1) >> 1]?.entry, entry);
}

/** Compares the slowest trace of a route with the one of median duration. */
export function openSlowest(key: string): void {
  const runs = runsOf(key);
  const slowest = runs.at(-1)?.entry;
  const median = runs[(runs.length - 1) >> 1]?.entry;
  if (slowest !== undefined) compare(median, slowest);
}

/** Returns the runs of a route, the shortest first. */
function runsOf(key: string): Run[] {
  const runs = runsByRoute(entries.value).get(key) ?? [];
  return runs.toSorted((a, b) => a.duration - b.duration);
}

/** Compares two traces, and selects the span with the largest difference. */
function compare(before: TraceEntry | undefined, after: TraceEntry): void {
  if (before === undefined || before === after) return open(after.key);
  batch(() => {
    open(before.key);
    wantedCompare.value = after.key;
    const row = slowestRow(comparison.value?.rows ?? []);
    if (row !== undefined) selection.selectedRow.value = row.id;
    selection.cursorKey.value = after.key;
  });
}

/** Opens a trace, without a selected span. */
function open(key: string): void {
  selection.openTrace(key);
  selection.selectedRow.value = "";
  selection.view.value = "waterfall";
}
