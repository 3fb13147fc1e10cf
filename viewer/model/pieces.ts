/**
 * Joins the pieces of a trace: live updates, and files of several processes.
 *
 * @module
 */

import { joinSpans } from "../../trace/export/join.ts";
import type { SerializedTrace } from "../../trace/types.ts";
import { summarize, type TraceEntry } from "./summary.ts";

/**
 * Joins a piece with the trace that the page has. A span that both contain
 * counts once.
 *
 * @param isUpdate Whether the server sent the piece, which then has the latest
 * state of all its spans.
 * @returns One of them if the other adds nothing.
 */
export function joinEntries(
  known: TraceEntry,
  added: TraceEntry,
  isUpdate: boolean,
): TraceEntry {
  if (isSame(known, added)) return added;
  let before, after;
  try {
    before = known.load();
    after = added.load();
  } catch {
    // Damaged, or not read yet.
    return added;
  }
  // A file in another format may have rounded times.
  if (!isUpdate && !known.running && includes(before, after)) return known;
  const isComplete = isUpdate || !added.running;
  if (isComplete && includes(after, before)) return added;
  const dropped = Math.max(
    before.metadata.droppedSpans ?? 0,
    after.metadata.droppedSpans ?? 0,
  );
  return summarize(joinSpans([...after.spans, ...before.spans], {
    droppedSpans: dropped,
  }));
}

/** Whether a trace has all spans of a part. */
function includes(whole: SerializedTrace, part: SerializedTrace): boolean {
  const ids = new Set(whole.spans.map(({ id }) => id));
  return part.spans.every(({ id }) => ids.has(id));
}

/** Whether two records are copies of each other. */
export function isSame(a: TraceEntry, b: TraceEntry): boolean {
  return a.id === b.id && a.rootSpanId === b.rootSpanId &&
    a.spanCount === b.spanCount && a.errorCount === b.errorCount &&
    a.startTime === b.startTime && a.duration === b.duration &&
    a.running === b.running;
}
