/**
 * The colours of `styles.css` for what is drawn on a canvas.
 *
 * @module
 */

import { computed } from "@preact/signals";
import type { Layer } from "../../trace/types.ts";
import { LAYERS } from "../model/layers.ts";
import { colorsVersion, resolveColors } from "./theme.ts";

const NAMES = ["surface", "ink", "muted", "line", "accent", "danger"] as const;

/** The page's own colours. */
export const pageColors = computed(() => {
  colorsVersion.value;
  return resolveColors(NAMES);
});

/** The colours of the layers. */
export const layerColors = computed((): Record<Layer, string> => {
  colorsVersion.value;
  const colors = resolveColors(
    LAYERS.map((layer) => `layer-${layer}` as const),
  );
  return Object.fromEntries(
    LAYERS.map((layer) => [layer, colors[`layer-${layer}`]]),
  ) as Record<Layer, string>;
});

/** Black or white, whichever can be read better on a colour `rgb(r, g, b)`. */
export function inkOn(color: string): string {
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  const linear = (value: number) => (value / 255) ** 2.2;
  const luminance = 0.2126 * linear(r) + 0.7152 * linear(g) +
    0.0722 * linear(b);
  return luminance > 0.18 ? "#000" : "#fff";
}
