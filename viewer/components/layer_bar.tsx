import { formatShare } from "../model/format.ts";
import { inLayerOrder, type LayerTime } from "../model/layers.ts";
import { sumOf } from "../model/numbers.ts";

/** A bar of the shares that the layers have in a trace's self time. */
export function LayerBar({ layers }: { layers: readonly LayerTime[] }) {
  const total = sumOf(layers, ([, time]) => time);
  if (total <= 0) return <span class="layer-bar" />;
  let share = 0;
  const stops = inLayerOrder(layers).map(([layer, time]) => {
    const from = share;
    share += time / total;
    const percent = (value: number) => `${(value * 100).toFixed(1)}%`;
    return `var(--layer-${layer}) ${percent(from)} ${percent(share)}`;
  });
  const text = layers
    .filter(([, time]) => time > 0)
    .map(([layer, time]) => `${layer} ${formatShare(time, total)}`)
    .join(", ");
  return (
    <span
      class="layer-bar"
      title={text}
      style={{ backgroundImage: `linear-gradient(90deg, ${stops.join(", ")})` }}
    />
  );
}
