/**
 * The visible time range of the open trace.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import {
  clampRange,
  panRange,
  type TimeRange,
  wholeRange,
  zoomRange,
} from "../model/time_range.ts";
import { tree } from "./opened.ts";

/** The zoomed range. `undefined` for the whole trace. */
export const zoom = signal<TimeRange | undefined>(undefined);

/** The whole range of the open trace. */
export const bounds = computed(() =>
  wholeRange(tree.value?.start ?? 0, tree.value?.end ?? 0)
);

/** The visible part of it. */
export const range = computed(() => zoom.value ?? bounds.value);

/** The zero of the axis: the start of the root span. */
export const origin = computed(() => tree.value?.trace.startTime ?? 0);

/** Zooms to the time between two moments, in any order. */
export function zoomTo(a: number, b: number): void {
  const { start, end } = bounds.value;
  const wanted = clampRange(a, b, bounds.value);
  const isWhole = wanted.start <= start && wanted.end >= end;
  zoom.value = isWhole ? undefined : wanted;
}

/** Zooms by a factor around a moment. Below 1 zooms in. */
export function zoomBy(factor: number, about: number): void {
  const { start, end } = zoomRange(range.value, factor, about, bounds.value);
  zoomTo(start, end);
}

/** Moves by a share of the visible range. Negative is earlier. */
export function panBy(share: number): void {
  const { start, end } = panRange(range.value, share, bounds.value);
  zoomTo(start, end);
}

/** Shows the whole trace. */
export function resetZoom(): void {
  zoom.value = undefined;
}
