/**
 * The path of a trace in the list, what it consists of, and its badges.
 *
 * @module
 */

import type { ComponentChildren } from "preact";
import { type Filters, matchedRequest } from "../model/filters.ts";
import { formatCount, formatPlural } from "../model/format.ts";
import type { TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import * as evidence from "../state/evidence.ts";
import { runningKeys } from "../state/listing.ts";
import { cursorKey } from "../state/selection.ts";
import { Chip } from "./controls.tsx";

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
    requests.length > 0 && formatPlural(requests.length, "request"),
  ];
  return cutText(notes.filter(Boolean).join(" · "), 200);
}

function Badges({ entry }: { entry: TraceEntry }) {
  const { errorCount, repeats } = entry;
  const slow = evidence.slowness(entry);
  const isRunning = entry.running || entry.pending ||
    runningKeys.value.has(entry.key);
  return (
    <>
      {errorCount > 0 && (
        <Badge
          entry={entry}
          look="bad"
          hint="Go to the span that threw"
          onOpen={evidence.openError}
        >
          {formatPlural(errorCount, "error")}
        </Badge>
      )}
      {repeats > 0 && (
        <Badge
          entry={entry}
          hint="A query that repeats. Go to the sums of repeated work"
          onOpen={evidence.openRepeats}
        >
          {formatCount(repeats)}× query
        </Badge>
      )}
      {slow !== undefined && (
        <Badge
          entry={entry}
          hint={slow}
          onOpen={evidence.openSlow}
        >
          slow
        </Badge>
      )}
      {isRunning && <span class="badge">running</span>}
    </>
  );
}

interface BadgeProps {
  readonly entry: TraceEntry;
  readonly look?: string;
  readonly hint: string;
  readonly onOpen: (entry: TraceEntry) => void;
  readonly children: ComponentChildren;
}

/** A finding of a trace. A click opens the trace there. */
function Badge({ entry, look = "", hint, onOpen, children }: BadgeProps) {
  return (
    <Chip
      class={`badge ${look}`}
      title={hint}
      // Tab reaches those of the current row.
      tabIndex={cursorKey.value === entry.key ? 0 : -1}
      onClick={(event) => {
        event.stopPropagation();
        onOpen(entry);
      }}
    >
      {children}
    </Chip>
  );
}
