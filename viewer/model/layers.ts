/**
 * The twelve layers, in the order in which the legend and the bars show them:
 * from the edge of the application inwards.
 *
 * @module
 */

import type { Layer } from "../../trace/types.ts";

/** All layers. Each has a colour `--layer-<name>` in `styles.css`. */
export const LAYERS: readonly Layer[] = [
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

/** Milliseconds of self time that a layer took. */
export type LayerTime = readonly [layer: Layer, selfTime: number];

/** The place of a layer in {@linkcode LAYERS}, for sorting. */
export function layerOrder(layer: Layer): number {
  return LAYERS.indexOf(layer);
}
