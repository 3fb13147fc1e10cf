/**
 * Light, dark, or as the system has it.
 *
 * @module
 */

import { effect, signal } from "@preact/signals";

/** What somebody has chosen. */
export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const KEY = "trace-viewer-theme";

/** The chosen theme. */
export const theme = signal<Theme>(load());

/** Counts the changes of colours, for what is drawn by hand. */
export const colorsVersion = signal(0);

/** Goes on to the next theme. */
export function nextTheme(): void {
  const next = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]!;
  theme.value = next;
  try {
    localStorage.setItem(KEY, next);
  } catch {
    // Not every page may keep things: then the choice lasts until it closes.
  }
}

function load(): Theme {
  try {
    const stored = localStorage.getItem(KEY);
    return THEMES.find((name) => name === stored) ?? "system";
  } catch {
    return "system";
  }
}

/** Applies the theme, now and whenever it changes. */
export function startTheme(): void {
  effect(() => {
    document.documentElement.dataset.theme = theme.value;
    colorsVersion.value = colorsVersion.peek() + 1;
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    colorsVersion.value++;
  });
}

/** Resolves custom properties of `styles.css` to colours a canvas takes. */
export function resolveColors<Name extends string>(
  names: readonly Name[],
): Record<Name, string> {
  // All at once: each question to a changed page would style it anew.
  const probes = document.createElement("div");
  for (const name of names) {
    const probe = document.createElement("span");
    probe.style.color = `var(--${name})`;
    probes.append(probe);
  }
  document.body.append(probes);
  const colors = Object.fromEntries(
    names.map((name, i) => [name, getComputedStyle(probes.children[i]!).color]),
  );
  probes.remove();
  return colors as Record<Name, string>;
}
