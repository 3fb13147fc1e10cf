/**
 * The cells of the list: the path of a trace with its badges, and its bar. The
 * bar's length is the duration on a common scale, its colours are the layers'
 * shares of the self time.
 *
 * @module
 */

import { computed, effect, signal } from "@preact/signals";
import type { ComponentProps } from "preact";
import { afterPaint } from "../dom.ts";
import { barLength, scaleEnd } from "../model/duration_scale.ts";
import { matchedRequest } from "../model/filters.ts";
import {
  formatCount,
  formatDuration,
  formatPlural,
  formatShare,
} from "../model/format.ts";
import { mostOf, sumOf } from "../model/numbers.ts";
import { inLayerOrder, isAction, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import * as evidence from "../state/evidence.ts";
import { filters, runningKeys, shown } from "../state/listing.ts";
import { cursorKey } from "../state/selection.ts";
import { Chip, timeText } from "./controls.tsx";
import { type Column, column } from "./grid.tsx";

/**
 * The row whose buttons Tab reaches. To change this costs a layout, which would
 * delay the trace that a click opens.
 */
const tabbable = signal("");
effect(() => {
  const key = cursorKey.value;
  afterPaint(() => tabbable.value = key);
});

interface RowButtonProps extends ComponentProps<"button"> {
  /** The key of its row. Tab reaches the buttons of the current row. */
  readonly row: string;
  readonly onClick: () => void;
}

/** A button in a row of a list. The row doesn't see the click. */
export function RowButton({ row, onClick, ...props }: RowButtonProps) {
  return (
    <Chip
      class="badge"
      {...props}
      tabIndex={tabbable.value === row ? 0 : -1}
      onClick={(event) => {
        event.stopPropagation();
        onClick();
      }}
    />
  );
}

interface EntryProps {
  readonly entry: TraceEntry;
}

/** The path of a trace, or what the user acted on, with notes and badges. */
export function PathCell({ entry }: EntryProps) {
  const { kind, name, path } = entry;
  const label = isInteraction(kind) ? name.replace(`${kind} `, "") : path;
  return (
    <>
      <span class="label">{cutText(label, 300)}</span>
      <Note entry={entry} />
      <Badges entry={entry} />
    </>
  );
}

function isInteraction(kind: string): boolean {
  return ["click", "submit", "key"].includes(kind);
}

/** The text after the label: the matched request, or where the action was. */
function Note({ entry }: EntryProps) {
  const { kind, route, path, requests } = entry;
  // Filters draw only those rows again that may name a request.
  const found = requests.length > 0
    ? matchedRequest(entry, filters.value)
    : undefined;
  const notes = found
    ? [`→ ${found.method} ${found.path} ${found.statusCode || ""}`]
    : [
      isInteraction(kind) ? path : route !== path && route,
      requests.length >= (isAction(entry) ? 1 : 2) &&
      formatPlural(requests.length, "request"),
    ];
  const text = cutText(notes.filter(Boolean).join(" · "), 200);
  return <span class="muted">{text}</span>;
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
          title="Go to the span that threw"
          onClick={() => evidence.openError(entry)}
        >
          {formatPlural(errorCount, "error")}
        </RowButton>
      )}
      {repeats > 0 && (
        <RowButton
          row={key}
          title="A query that repeats. Go to the sums of repeated work"
          onClick={() => evidence.openRepeats(entry)}
        >
          {formatCount(repeats)}× query
        </RowButton>
      )}
      {slow !== undefined && (
        <RowButton
          row={key}
          title={slow}
          onClick={() => evidence.openSlow(entry)}
        >
          slow
        </RowButton>
      )}
      {isRunning && <span class="badge">running</span>}
    </>
  );
}

/** The end of the common scale of the listed traces, in milliseconds. */
const scale = computed(() =>
  scaleEnd(mostOf(shown.value, ({ duration }) => duration))
);

/** Returns the column of the bars. */
export function barColumn(): Column<TraceEntry> {
  const end = scale.value;
  const text = formatDuration(end).replace(/\.0+ /, " ");
  return column(
    "layers",
    `0 to ${text}`,
    (entry) => <DurationBar entry={entry} end={end} />,
    {
      fixed: true,
      hint: `Length: duration from 0 to ${text}, on a square root scale. ` +
        "Colours: shares of the layers' self time",
    },
  );
}

function DurationBar({ entry, end }: { entry: TraceEntry; end: number }) {
  const { pending, layers, duration } = entry;
  const total = sumOf(layers, ([, time]) => time);
  if (pending || total <= 0) return <span class="layer-bar" />;
  let share = 0;
  const stops = inLayerOrder(layers).map(([layer, time]) => {
    const from = share;
    share += time / total;
    const percent = (value: number) => `${(value * 100).toFixed(1)}%`;
    return `var(--layer-${layer}) ${percent(from)} ${percent(share)}`;
  });
  const shares = layers
    .filter(([, time]) => time > 0)
    .map(([layer, time]) => `${layer} ${formatShare(time, total)}`)
    .join(", ");
  const text = `${timeText(entry)}: ${shares}`;
  return (
    <span
      class="layer-bar"
      role="img"
      aria-label={text}
      title={text}
      style={{
        backgroundImage: `linear-gradient(90deg, ${stops.join(", ")})`,
        width: `${barLength(duration, end) * 100}%`,
      }}
    />
  );
}
