/**
 * The order of the layers in the legend and the bars: from the edge of the
 * application inwards.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";

/** All layers. Each has a colour `--layer-<name>` in `styles.css`. */
export const LAYER_ORDER: readonly Layer[] = [
  "request",
  "routing",
  "auth",
  "data",
  "database",
  "rpc",
  "forms",
  "signals",
  "islands",
  "build",
  "custom",
  "errors",
];

/** A layer and its self time, in milliseconds. */
export type LayerTime = readonly [layer: Layer, selfTime: number];

/** Returns times in the order of {@linkcode LAYER_ORDER}. */
export function inLayerOrder(times: readonly LayerTime[]): LayerTime[] {
  return times.toSorted((a, b) =>
    LAYER_ORDER.indexOf(a[0]) - LAYER_ORDER.indexOf(b[0])
  );
}
