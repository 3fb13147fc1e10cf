import { useLayoutEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";

/** A canvas of the size of its box, in CSS pixels. */
export interface Surface {
  /** Its context, scaled so that a unit is a CSS pixel. */
  readonly context: CanvasRenderingContext2D;
  /** Its width. */
  readonly width: number;
  /** Its height. */
  readonly height: number;
}

/**
 * Keeps a canvas as large as its box and draws it when that or `inputs`
 * change.
 */
export function useCanvas(
  draw: (surface: Surface) => void,
  inputs: readonly unknown[],
): { current: HTMLCanvasElement | null } {
  const ref = useRef<HTMLCanvasElement>(null);
  const size = useSignal("");
  useLayoutEffect(() => {
    const canvas = ref.current!;
    const measure = () => {
      size.value = `${canvas.clientWidth}x${canvas.clientHeight}`;
    };
    const observer = new ResizeObserver(measure);
    observer.observe(canvas);
    measure();
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const canvas = ref.current!;
    const context = canvas.getContext("2d");
    if (context === null) return;
    const { clientWidth: width, clientHeight: height } = canvas;
    const scale = devicePixelRatio;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    context.scale(scale, scale);
    draw({ context, width, height });
  }, [size.value, ...inputs]);
  return ref;
}
