/**
 * The colours of `styles.css` for what is drawn on a canvas.
 *
 * @module
 */

import { computed } from "@preact/signals";
import { LAYER_ORDER } from "../model/layers.ts";
import { colorsVersion, resolveColors } from "./theme.ts";

const NAMES = [
  "surface",
  "ink",
  "danger",
  ...LAYER_ORDER.map((layer) => `layer-${layer}` as const),
] as const;

/** The page's own colours and those of the layers. */
export const colors = computed(() => {
  colorsVersion.value;
  return resolveColors(NAMES);
});

/** The colours by name. */
export type Colors = typeof colors.value;

/** Black or white, whichever can be read better on a colour `rgb(r, g, b)`. */
export function inkOn(color: string): string {
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  // Squares are close to the light that a screen makes of the numbers.
  const luminance = 0.21 * r ** 2 + 0.72 * g ** 2 + 0.07 * b ** 2;
  return luminance > 13_000 ? "#000" : "#fff";
}
