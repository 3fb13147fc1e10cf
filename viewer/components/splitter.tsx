import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { afterPaint } from "../dom.ts";
import { clamp } from "../model/numbers.ts";
import { type Pane, setSize, sizes } from "../state/sizes.ts";

/** Each pane: its element, name, least size, and share of its surroundings. */
const PANES = {
  list: [".list-pane", "the list", 160, 0.7],
  details: [".span-panel", "the details", 80, 0.85],
  name: ["#waterfall .grid-head .name", "the span names", 80, 0.7],
} as const;

/** A step of an arrow key, in pixels. */
const STEP = 16;

/** A line that changes the size of a pane by pointer and keyboard. */
export function Splitter({ pane }: { pane: Pane }) {
  const [selector, name, least, share] = PANES[pane];
  const ref = useRef<HTMLDivElement>(null);
  /** The pane's size and maximum, in pixels, and its line's direction. */
  const measured = useSignal({ size: 0, most: 0, isFlat: false });
  /** The pointer and the size at the start of a drag. */
  const from = useRef<{ at: number; size: number }>(undefined);
  const measure = () => {
    const element = document.querySelector(selector);
    const line = ref.current;
    if (element === null || line === null) return measured.value;
    const { width, height } = line.getBoundingClientRect();
    // A line between parts above each other is flat.
    const isFlat = width > height;
    const side = isFlat ? "height" : "width";
    const around = line.parentElement!.getBoundingClientRect()[side];
    return measured.value = {
      size: Math.round(element.getBoundingClientRect()[side]),
      most: Math.max(Math.round(around * share), least),
      isFlat,
    };
  };
  useLayoutEffect(() => afterPaint(measure), [sizes.value]);
  const { size, most, isFlat } = measured.value;
  /** The details are after their line, so they grow backwards. */
  const sign = pane === "details" ? -1 : 1;
  const resize = (wanted: number) => {
    setSize(pane, clamp(Math.round(wanted), least, measured.peek().most));
  };
  const placeOf = (event: PointerEvent) =>
    measured.peek().isFlat ? event.clientY : event.clientX;
  return (
    <div
      ref={ref}
      class={`splitter ${pane}`}
      role="separator"
      tabIndex={0}
      data-own-keys
      title="Drag to resize. Double click or Delete resets."
      aria-label={`Size of ${name}`}
      aria-orientation={isFlat ? "horizontal" : "vertical"}
      aria-valuemin={least}
      aria-valuemax={Math.max(most, size, least)}
      aria-valuenow={Math.max(size, least)}
      onDblClick={() => setSize(pane, undefined)}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        from.current = { at: placeOf(event), size: measure().size };
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (from.current === undefined) return;
        const { at, size } = from.current;
        resize(size + sign * (placeOf(event) - at));
      }}
      onPointerUp={() => from.current = undefined}
      onPointerCancel={() => from.current = undefined}
      onKeyDown={(event) => {
        const [less, more] = measure().isFlat
          ? ["ArrowUp", "ArrowDown"]
          : ["ArrowLeft", "ArrowRight"];
        const by = { [less!]: -STEP, [more!]: STEP }[event.key];
        if (by !== undefined) resize(measured.peek().size + sign * by);
        else if (event.key === "Home") resize(least);
        else if (event.key === "End") resize(measured.peek().most);
        else if (event.key === "Delete") setSize(pane, undefined);
        else return;
        event.preventDefault();
        event.stopPropagation();
      }}
    />
  );
}
