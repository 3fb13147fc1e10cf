/**
 * The path of a trace in the list, what it consists of, and its badges.
 *
 * @module
 */

import { type Filters, matchedRequest } from "../model/filters.ts";
import { formatCount, formatPlural } from "../model/format.ts";
import { isAction, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import * as evidence from "../state/evidence.ts";
import { runningKeys } from "../state/listing.ts";
import { RowButton } from "./row_button.tsx";

/** Returns a function that draws the path of a trace. */
export function pathCell(filters: Filters) {
  return (entry: TraceEntry) => (
    <>
      <span class="label">{cutText(entry.path, 300)}</span>
      <span class="muted">{noteOf(entry, filters)}</span>
      <Badges entry={entry} />
    </>
  );
}

/** Returns the text after the path: the matched request, or what it is. */
function noteOf(entry: TraceEntry, filters: Filters): string {
  const { kind, route, path, name, requests } = entry;
  const found = matchedRequest(entry, filters);
  if (found !== undefined) {
    const { method, path, statusCode } = found;
    return cutText(`→ ${method} ${path} ${statusCode || ""}`, 200);
  }
  const notes = [
    ["click", "submit", "key"].includes(kind) && name,
    route !== path && route,
    requests.length >= (isAction(entry) ? 1 : 2) &&
    formatPlural(requests.length, "request"),
  ];
  return cutText(notes.filter(Boolean).join(" · "), 200);
}

function Badges({ entry }: { entry: TraceEntry }) {
  const { key, errorCount, repeats } = entry;
  const slow = evidence.slowness(entry);
  const isRunning = entry.running || entry.pending ||
    runningKeys.value.has(key);
  return (
    <>
      {errorCount > 0 && (
        <RowButton
          row={key}
          class="badge bad"
          hint="Go to the span that threw"
          onClick={() => evidence.openError(entry)}
        >
          {formatPlural(errorCount, "error")}
        </RowButton>
      )}
      {repeats > 0 && (
        <RowButton
          row={key}
          hint="A query that repeats. Go to the sums of repeated work"
          onClick={() => evidence.openRepeats(entry)}
        >
          {formatCount(repeats)}× query
        </RowButton>
      )}
      {slow !== undefined && (
        <RowButton
          row={key}
          hint={slow}
          onClick={() => evidence.openSlow(entry)}
        >
          slow
        </RowButton>
      )}
      {isRunning && <span class="badge">running</span>}
    </>
  );
}
