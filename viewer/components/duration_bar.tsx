/**
 * The bars of the list: the duration on a common scale, and the layers' shares
 * of the self time in it.
 *
 * @module
 */

import { computed } from "@preact/signals";
import { barLength, scaleEnd } from "../model/duration_scale.ts";
import { formatDuration, formatShare } from "../model/format.ts";
import { mostOf, sumOf } from "../model/numbers.ts";
import { inLayerOrder, type TraceEntry } from "../model/summary.ts";
import * as listing from "../state/listing.ts";
import { timeText } from "./controls.tsx";
import { type Column, column } from "./grid.tsx";

/** The end of the common scale of the listed traces, in milliseconds. */
export const scale = computed(() =>
  scaleEnd(mostOf(listing.shown.value, ({ duration }) => duration))
);

/** Returns the column of the bars. */
export function barColumn(end: number): Column<TraceEntry> {
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

function DurationBar(
  { entry, end }: { entry: TraceEntry; end: number },
) {
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
