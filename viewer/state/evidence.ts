/**
 * Opens a trace at what the list says about it.
 *
 * @module
 */

import { batch, effect, signal } from "@preact/signals";
import { slowestRow } from "../model/compare.ts";
import { routeKey } from "../model/filters.ts";
import { formatDuration } from "../model/format.ts";
import { slowLimits } from "../model/history.ts";
import { type Run, runsByRoute } from "../model/listing.ts";
import type { TraceEntry } from "../model/summary.ts";
import { wantedCompare } from "./opened.ts";
import { comparison, sortedWork } from "./rows.ts";
import * as selection from "./selection.ts";
import { entries } from "./traces.ts";

/** The minimum time between two looks at all durations, in milliseconds. */
const REST = 1_000;

const limits = signal<ReadonlyMap<string, number>>(new Map());

let timer: ReturnType<typeof setTimeout> | undefined;

// Later, because a look at 10,000 traces takes longer than to show one.
effect(() => {
  if (entries.value.length === 0) return;
  timer ??= setTimeout(() => {
    timer = undefined;
    limits.value = slowLimits(entries.peek());
  }, REST);
});

/** Returns why a trace is slow. `undefined` if it isn't. */
export function slowness(entry: TraceEntry): string | undefined {
  const limit = limits.value.get(routeKey(entry));
  if (limit === undefined || entry.duration <= limit) return undefined;
  return "Slower than 95 % of this route and than twice its median, so above " +
    `${formatDuration(limit)}. Compare it with the median`;
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
