/**
 * Finds the visible rows of a long list.
 *
 * @module
 */

import { clamp } from "./numbers.ts";

/** Rows that are drawn above the view, and below it. */
const OVERSCAN = 6;

/**
 * Returns the rows to draw, from `first` to before `end`. Both move in steps,
 * so that not every scrolled row causes a new drawing.
 */
export function visibleWindow(
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
  rowCount: number,
) {
  const first = Math.floor(scrollTop / rowHeight) - OVERSCAN;
  const end = Math.ceil((scrollTop + viewHeight) / rowHeight) + OVERSCAN;
  const step = OVERSCAN / 2;
  return {
    first: clamp(Math.floor(first / step) * step, 0, Math.max(rowCount - 1, 0)),
    end: clamp(Math.ceil(end / step) * step, 0, rowCount),
  };
}

/** Returns the scroll position that shows a row below a sticky head. */
export function scrollToRow(
  row: number,
  scrollTop: number,
  viewHeight: number,
  rowHeight: number,
): number {
  const top = row * rowHeight;
  if (top < scrollTop) return top;
  const bottom = top + rowHeight;
  return bottom > scrollTop + viewHeight ? bottom - viewHeight : scrollTop;
}
