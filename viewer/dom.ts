/**
 * Helpers for the DOM.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

/** Calls `onResize` with an element's size, first and at each change. */
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

/**
 * Runs something once the latest changes are on the screen: after the frame
 * that follows theirs has begun.
 */
export function afterPaint(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(run)));
}

/**
 * Returns the result of a computation once the rest of the page is painted. The
 * previous one stays until then, and it is `undefined` at first.
 */
export function useLater<Result>(
  compute: () => Result,
  inputs: readonly unknown[],
): Result | undefined {
  const latest = useSignal<Result | undefined>(undefined);
  useLayoutEffect(() => {
    let isCurrent = true;
    afterPaint(() => {
      if (isCurrent) latest.value = compute();
    });
    return () => {
      isCurrent = false;
    };
  }, inputs);
  return latest.value;
}

/** Returns the time in epoch milliseconds, and draws again at each interval. */
export function useNow(intervalMs: number): number {
  const now = useSignal(Date.now());
  useLayoutEffect(() => {
    const timer = setInterval(() => now.value = Date.now(), intervalMs);
    return () => clearInterval(timer);
  }, []);
  return now.value;
}

/** A canvas with the size of its box, in CSS pixels. */
export interface Surface {
  /** Its context. A unit is a CSS pixel. */
  readonly context: CanvasRenderingContext2D;
  /** Its width. */
  readonly width: number;
  /** Its height. */
  readonly height: number;
}

/**
 * Draws a canvas with the size of its box, again when that or `inputs` change.
 */
export function useCanvas(
  draw: (surface: Surface) => void,
  inputs: readonly unknown[],
): RefObject<HTMLCanvasElement | null> {
  const ref = useRef<HTMLCanvasElement>(null);
  const size = useSignal({ width: 0, height: 0 });
  useSize(ref, (rect) => {
    const resize = () => {
      size.value = rect;
    };
    // The rest of the page is painted first.
    if (size.peek().width === 0) afterPaint(resize);
    else resize();
  });
  useLayoutEffect(() => {
    const { width, height } = size.value;
    const canvas = ref.current!;
    const context = canvas.getContext("2d");
    if (context === null || width === 0) return;
    canvas.width = Math.round(width * devicePixelRatio);
    canvas.height = Math.round(height * devicePixelRatio);
    context.scale(devicePixelRatio, devicePixelRatio);
    draw({ context, width, height });
  }, [size.value, ...inputs]);
  return ref;
}
