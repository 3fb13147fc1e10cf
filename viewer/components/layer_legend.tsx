import { formatDuration, formatShare } from "../model/format.ts";
import { inLayerOrder } from "../model/layers.ts";
import { sumOf } from "../model/numbers.ts";
import type { TraceEntry } from "../model/summary.ts";
import { hiddenLayers, isolateLayer, toggleLayer } from "../state/opened.ts";
import { Chip, Swatch } from "./controls.tsx";

/** The layers of a trace with their self times. A click hides one. */
export function LayerLegend({ entry }: { entry: TraceEntry }) {
  const layers = inLayerOrder(entry.layers);
  const total = sumOf(layers, ([, time]) => time);
  const present = layers.map(([layer]) => layer);
  return (
    <div class="legend" role="group" aria-label="Layers">
      {layers.map(([layer, time]) => (
        <Chip
          class=""
          key={layer}
          aria-pressed={!hiddenLayers.value.has(layer)}
          title={`${layer}: ${formatDuration(time)} of self time, ${
            formatShare(time, total)
          }. Double click: this layer alone`}
          onClick={() => toggleLayer(layer)}
          onDblClick={() => isolateLayer(layer, present)}
        >
          <Swatch layer={layer} />
          {layer}
          <span class="muted">{formatDuration(time)}</span>
        </Chip>
      ))}
    </div>
  );
}
