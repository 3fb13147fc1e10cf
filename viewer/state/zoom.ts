/**
 * The visible time range of the open trace.
 *
 * @module
 */

import { computed, signal } from "@preact/signals";
import {
  clampRange,
  isWithin,
  panRange,
  type TimeRange,
  wholeRange,
  zoomRange,
} from "../model/time_range.ts";
import { tree } from "./opened.ts";

/**
 * The zoomed range, since the start of the trace. `undefined` for the trace's
 * total.
 */
export const zoom = signal<TimeRange | undefined>(undefined);

/** The zero of the axis: the start of the open trace. */
export const origin = computed(() => tree.value?.start ?? 0);

/** The range of the open trace's total. */
export const bounds = computed(() =>
  wholeRange(origin.value, tree.value?.end ?? 0)
);

/** The time of all spans, also of those outside of the total. */
export const extent = computed(() => tree.value?.extent ?? bounds.value);

/** The visible range. */
export const range = computed(() => {
  const zoomed = zoom.value;
  if (zoomed === undefined) return bounds.value;
  const { start, end } = zoomed;
  return clampRange(origin.value + start, origin.value + end, extent.value);
});

/** The range of the overview: the total, and the visible range around it. */
export const overview = computed((): TimeRange => {
  const { start, end } = range.value;
  return {
    start: Math.min(start, bounds.value.start),
    end: Math.max(end, bounds.value.end),
  };
});

/** Zooms to the time between two moments, in any order. */
export function zoomTo(a: number, b: number): void {
  const whole = bounds.value;
  const { start, end } = clampRange(a, b, extent.value);
  const isWhole = start === whole.start && end === whole.end;
  const zero = origin.value;
  zoom.value = isWhole ? undefined : { start: start - zero, end: end - zero };
}

/** Zooms by a factor around a moment. Below 1 zooms in. */
export function zoomBy(factor: number, about: number): void {
  const { start, end } = zoomRange(range.value, factor, about, limits());
  zoomTo(start, end);
}

/** Moves by a share of the visible range. Negative is earlier. */
export function panBy(share: number): void {
  const { start, end } = panRange(range.value, share, limits());
  zoomTo(start, end);
}

/** Zooming out stops once at the total, before it shows what is outside. */
function limits(): TimeRange {
  const isPart = zoom.value !== undefined &&
    isWithin(range.value, bounds.value);
  return isPart ? bounds.value : extent.value;
}

/** Shows the whole trace. */
export function resetZoom(): void {
  zoom.value = undefined;
}
