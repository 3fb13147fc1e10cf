/**
 * The path of a trace in the list, what it consists of, and its badges.
 *
 * @module
 */

import { matchedRequest } from "../model/filters.ts";
import { formatCount, formatPlural } from "../model/format.ts";
import { isAction, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import * as evidence from "../state/evidence.ts";
import { filters, runningKeys } from "../state/listing.ts";
import { RowButton } from "./row_button.tsx";

interface EntryProps {
  readonly entry: TraceEntry;
}

/** The path of a trace, or what the user acted on, with notes and badges. */
export function PathCell({ entry }: EntryProps) {
  return (
    <>
      <span class="label">{cutText(labelOf(entry), 300)}</span>
      <Note entry={entry} />
      <Badges entry={entry} />
    </>
  );
}

function Note({ entry }: EntryProps) {
  return <span class="muted">{noteOf(entry)}</span>;
}

/** Returns what the user acted on, or else the path. */
function labelOf({ kind, name, path }: TraceEntry): string {
  return isInteraction(kind) ? name.replace(`${kind} `, "") : path;
}

function isInteraction(kind: string): boolean {
  return ["click", "submit", "key"].includes(kind);
}

/** Returns the text after the label: the matched request, or where it was. */
function noteOf(entry: TraceEntry): string {
  const { kind, route, path, requests } = entry;
  // Filters draw only those rows again that may name a request.
  const found = requests.length > 0
    ? matchedRequest(entry, filters.value)
    : undefined;
  if (found !== undefined) {
    const { method, path, statusCode } = found;
    return cutText(`→ ${method} ${path} ${statusCode || ""}`, 200);
  }
  const notes = [
    isInteraction(kind) ? path : route !== path && route,
    requests.length >= (isAction(entry) ? 1 : 2) &&
    formatPlural(requests.length, "request"),
  ];
  return cutText(notes.filter(Boolean).join(" · "), 200);
}

function Badges({ entry }: EntryProps) {
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
