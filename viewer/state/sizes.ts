/**
 * The sizes of panes that the user has changed. The browser remembers them.
 *
 * @module
 */

import { signal } from "@preact/signals";
import { readObject, storeObject } from "./storage.ts";

/** A pane or column whose size can be changed. */
export type Pane = "list" | "details" | "name";

const KEY = "trace-viewer-sizes";
const PANES: readonly Pane[] = ["list", "details", "name"];

type Sizes = Readonly<Partial<Record<Pane, number>>>;

/** The changed sizes, in pixels. */
export const sizes = signal<Sizes>(load());

/** Changes the size of a pane, or resets it. */
export function setSize(pane: Pane, size: number | undefined): void {
  const { [pane]: _, ...others } = sizes.value;
  sizes.value = size === undefined ? others : { ...others, [pane]: size };
  storeObject(KEY, sizes.value);
}

/** Returns the changed sizes as custom properties, such as `--list`. */
export function sizeStyle(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(sizes.value).map((
      [pane, size],
    ) => [`--${pane}`, `${size}px`]),
  );
}

function load(): Sizes {
  const stored = readObject(KEY) as Record<Pane, number>;
  return Object.fromEntries(
    PANES.map((pane) => [pane, stored[pane]] as const)
      .filter(([, size]) => Number.isInteger(size) && size > 0),
  );
}
