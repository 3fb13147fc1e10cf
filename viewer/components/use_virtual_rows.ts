import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { scrollToRow, visibleWindow, type Window } from "../model/virtual.ts";

/** What a virtualized list needs. */
export interface VirtualRows extends Window {
  /** For the element that scrolls. */
  readonly ref: { current: HTMLDivElement | null };
  /** Scrolls so that a row is in view. */
  readonly reveal: (row: number) => void;
}

/**
 * Keeps track of which rows of a scrolling element are in view.
 *
 * @param headHeight The height of what sticks to the top, in pixels.
 * @param onScroll Called with the new position after each scroll.
 */
export function useVirtualRows(
  rowCount: number,
  rowHeight: number,
  headHeight: number,
  onScroll?: (scrollTop: number) => void,
): VirtualRows {
  const ref = useRef<HTMLDivElement>(null);
  const shown = useSignal<Window>({ first: 0, end: Math.min(rowCount, 60) });
  const latest = useRef({ rowCount, onScroll });
  latest.current = { rowCount, onScroll };

  const update = () => {
    const element = ref.current;
    if (element === null) return;
    const next = visibleWindow(
      element.scrollTop,
      element.clientHeight - headHeight,
      rowHeight,
      latest.current.rowCount,
    );
    const { first, end } = shown.value;
    if (next.first !== first || next.end !== end) shown.value = next;
  };

  useLayoutEffect(() => {
    const element = ref.current!;
    const listener = () => {
      update();
      latest.current.onScroll?.(element.scrollTop);
    };
    element.addEventListener("scroll", listener, { passive: true });
    const observer = new ResizeObserver(update);
    observer.observe(element);
    return () => {
      element.removeEventListener("scroll", listener);
      observer.disconnect();
    };
  }, []);
  useLayoutEffect(update, [rowCount, rowHeight]);

  return {
    ref,
    first: Math.min(shown.value.first, Math.max(rowCount - 1, 0)),
    end: Math.min(shown.value.end, rowCount),
    reveal(row) {
      const element = ref.current;
      if (element === null || row < 0) return;
      element.scrollTop = scrollToRow(
        row,
        element.scrollTop,
        element.clientHeight - headHeight,
        rowHeight,
      );
    },
  };
}
