/**
 * The bars of the list: the duration on a common scale, and the layers' shares
 * of the self time in it.
 *
 * @module
 */

import { computed } from "@preact/signals";
import {
  barLength,
  type DurationScale,
  scaleOf,
} from "../model/duration_scale.ts";
import { formatDuration, formatShare } from "../model/format.ts";
import { sumOf } from "../model/numbers.ts";
import { inLayerOrder, type TraceEntry } from "../model/summary.ts";
import * as listing from "../state/listing.ts";
import { timeText } from "./controls.tsx";
import { type Column, column } from "./grid.tsx";

/** The scale as text, so that an equal one draws nothing again. */
const scaleText = computed(() => {
  const { from, to } = scaleOf(
    listing.shown.value.values().map(({ duration }) => duration),
  );
  return `${from} ${to}`;
});

/** The common scale of the listed traces. */
export const scale = computed((): DurationScale => {
  const [from = 0, to = 1] = scaleText.value.split(" ").map(Number);
  return { from, to };
});

/** Returns the column of the bars. */
export function barColumn(scale: DurationScale): Column<TraceEntry> {
  const [from, to] = [scale.from, scale.to].map((power) =>
    formatDuration(10 ** power).replace(/\.0+/, "")
  );
  return column(
    "layers",
    `${from} to ${to}, log`,
    (entry) => <DurationBar entry={entry} scale={scale} />,
    {
      fixed: true,
      hint: `Length: duration, on a logarithmic scale from ${from} to ${to}. ` +
        "Colours: shares of the layers' self time",
    },
  );
}

function DurationBar(
  { entry, scale }: { entry: TraceEntry; scale: DurationScale },
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
        width: `${barLength(duration, scale) * 100}%`,
      }}
    />
  );
}
