/**
 * The stretch of time of the open trace that is drawn.
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

/** The stretch that is zoomed to; `undefined` for the whole trace. */
export const zoom = signal<TimeRange | undefined>(undefined);

/** All of the open trace's time. */
export const bounds = computed(() =>
  wholeRange(tree.value?.start ?? 0, tree.value?.end ?? 0)
);

/** The part of it that is drawn. */
export const range = computed(() => zoom.value ?? bounds.value);

/** The moment that the axis calls 0: when the root span began. */
export const origin = computed(() => tree.value?.trace.startTime ?? 0);

/** Zooms to the time between two moments, in any order. */
export function zoomTo(a: number, b: number): void {
  const { start, end } = bounds.value;
  const wanted = clampRange(a, b, bounds.value);
  const isWhole = wanted.start <= start && wanted.end >= end;
  zoom.value = isWhole ? undefined : wanted;
}

/** Zooms by a factor about a moment; below 1 zooms in. */
export function zoomBy(factor: number, about: number): void {
  const { start, end } = zoomRange(range.value, factor, about, bounds.value);
  zoomTo(start, end);
}

/** Moves by a share of what is drawn; negative is earlier. */
export function panBy(share: number): void {
  const { start, end } = panRange(range.value, share, bounds.value);
  zoomTo(start, end);
}

/** Shows the whole trace. */
export function resetZoom(): void {
  zoom.value = undefined;
}
