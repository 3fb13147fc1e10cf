/**
 * The theme, and the colours of `styles.css` for canvases.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import { LAYER_ORDER } from "../model/summary.ts";
import { createSetting } from "./settings.ts";

const THEMES = ["system", "light", "dark"] as const;

const setting = createSetting("trace-viewer-theme", THEMES);

/** The chosen theme. */
export const theme = setting.value;

/** Counts the changes of the system's theme and colours. */
const systemChanges = signal(0);

/** Selects the next theme. */
export function nextTheme(): void {
  setting.next();
  document.documentElement.dataset.theme = theme.value;
}

/** Applies the theme, also when the system's theme changes. */
export function startTheme(): void {
  document.documentElement.dataset.theme = theme.value;
  for (
    const feature of ["prefers-color-scheme: dark", "forced-colors: active"]
  ) {
    matchMedia(`(${feature})`)
      .addEventListener("change", () => systemChanges.value++);
  }
  // Read while the page is small. With an open trace, it takes ten times as
  // long.
  colors.value;
}

const NAMES = [
  "surface",
  "ink",
  "danger",
  ...LAYER_ORDER.map((layer) => `layer-${layer}` as const),
] as const;

/** Colours by name, in the form for a canvas. */
export type Colors = Readonly<Record<typeof NAMES[number], string>>;

/** The colours of the page and of the layers. */
export const colors = computed((): Colors => {
  theme.value;
  systemChanges.value;
  // Together, because each `getComputedStyle()` after a change restyles the
  // page.
  const probes = document.createElement("div");
  for (const name of NAMES) {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    // Forced colours would replace it.
    probe.style.forcedColorAdjust = "none";
    probes.append(probe);
  }
  document.body.append(probes);
  const colors = Object.fromEntries(
    NAMES.map((name, i) => [name, getComputedStyle(probes.children[i]!).color]),
  );
  probes.remove();
  return colors as Colors;
});

/** Returns black or white, whichever has more contrast on `rgb(r, g, b)`. */
export function inkOn(color: string): string {
  const [r = 0, g = 0, b = 0] = (color.match(/[\d.]+/g) ?? []).map(Number);
  // Squares approximate the light of a screen.
  const luminance = 0.21 * r ** 2 + 0.72 * g ** 2 + 0.07 * b ** 2;
  return luminance > 13_000 ? "#000" : "#fff";
}
