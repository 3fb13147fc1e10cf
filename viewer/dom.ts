/**
 * Helpers for the DOM.
 *
 * @module
 */

import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Calls `onResize` with an element's size at first, and when it changes. */
export function useSize(
  ref: RefObject<Element | null>,
  onResize: (size: DOMRectReadOnly) => void,
): void {
  const latest = useRef(onResize);
  latest.current = onResize;
  useLayoutEffect(() => {
    const observer = new ResizeObserver(([entry]) =>
      latest.current(entry!.contentRect)
    );
    observer.observe(ref.current!);
    return () => observer.disconnect();
  }, []);
}

/** Returns the attribute `data-<name>` of the element that was clicked on. */
export function clicked(event: MouseEvent, name: string): string | undefined {
  return (event.target as Element)
    .closest<HTMLElement>(`[data-${name}]`)?.dataset[name];
}

/** Runs something once the latest changes are on the screen. */
export function afterPaint(run: () => void): void {
  requestAnimationFrame(() => setTimeout(run));
}
