/**
 * The colours of `styles.css` for what is drawn on a canvas.
 *
 * @module
 */

import { computed } from "@preact/signals";
import { LAYERS } from "../model/layers.ts";
import { colorsVersion, resolveColors } from "./theme.ts";

const NAMES = [
  "surface",
  "ink",
  "danger",
  ...LAYERS.map((layer) => `layer-${layer}` as const),
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
  const linear = (value: number) => (value / 255) ** 2.2;
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) +
    0.0722 * linear(b);
  return luminance > 0.18 ? "#000" : "#fff";
}
