/**
 * The controls of the zoom: the overview above the waterfall, drags, and the
 * buttons below it.
 *
 * @module
 */

import type { TargetedPointerEvent } from "preact";
import { useRef } from "preact/hooks";
import { isOpenSpan } from "../../trace/export/semantics.ts";
import { type Surface, useCanvas } from "../dom.ts";
import { formatCount, formatDuration, formatPlural } from "../model/format.ts";
import { clamp } from "../model/numbers.ts";
import { isWithin, type TimeRange } from "../model/time_range.ts";
import type { TraceTree } from "../model/tree.ts";
import { spansInRange } from "../state/rows.ts";
import { type Colors, colors } from "../state/theme.ts";
import {
  bounds,
  extent,
  origin,
  overview,
  range,
  resetZoom,
  zoom,
  zoomTo,
} from "../state/zoom.ts";
import { Chip, Icon } from "./controls.tsx";

/** An overview of the whole trace. Dragging zooms to a part. */
export function Minimap({ tree }: { tree: TraceTree }) {
  const palette = colors.value;
  const whole = overview.value;
  const ref = useCanvas(
    (surface) => drawSpans(surface, tree, whole, palette),
    [tree, whole.start, whole.end, palette],
  );
  const length = whole.end - whole.start;
  const from = (range.value.start - whole.start) / length;
  const to = (range.value.end - whole.start) / length;
  return (
    <div
      class="minimap"
      role="group"
      aria-label="Overview"
      {...useZoomDrag(whole, "moving")}
      onDblClick={resetZoom}
    >
      <canvas ref={ref} aria-hidden="true" />
      <span class="shade" style={{ left: 0, width: `${from * 100}%` }} />
      <span
        class="shade"
        style={{ left: `${to * 100}%`, width: `${(1 - to) * 100}%` }}
      />
      <Handle edge="start" at={from} />
      <Handle edge="end" at={to} />
    </div>
  );
}

function drawSpans(
  { context, width, height }: Surface,
  { nodes }: TraceTree,
  { start, end }: TimeRange,
  palette: Colors,
): void {
  const scale = width / (end - start || 1);
  const lane = Math.min(height / nodes.length, 6);
  for (const { span, index } of nodes) {
    context.fillStyle = palette[`layer-${span.layer}`];
    context.fillRect(
      (span.startTime - start) * scale,
      // Thinner bars would be transparent, so several spans share a line.
      lane < 1 ? Math.floor(index * lane) : index * lane,
      Math.max(
        ((isOpenSpan(span) ? end : span.endTime) - span.startTime) * scale,
        1,
      ),
      Math.max(lane - 1, Math.min(lane, 1.2), 1),
    );
  }
}

/** One end of the visible range, for the keyboard. */
function Handle({ edge, at }: { edge: "start" | "end"; at: number }) {
  const whole = overview.value;
  const { start, end } = range.value;
  const value = (edge === "start" ? start : end) - origin.value;
  const move = (event: KeyboardEvent) => {
    if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
    event.preventDefault();
    const step = (whole.end - whole.start) / 100;
    const by = event.key === "ArrowLeft" ? -step : step;
    if (edge === "start") zoomTo(Math.min(start + by, end), end);
    else zoomTo(start, Math.max(end + by, start));
  };
  return (
    <span
      class={zoom.value === undefined ? "handle whole" : "handle"}
      role="slider"
      tabIndex={0}
      data-own-keys
      aria-label={`${edge === "start" ? "Start" : "End"} of the visible range`}
      aria-valuemin={whole.start - origin.value}
      aria-valuemax={whole.end - origin.value}
      aria-valuenow={value}
      aria-valuetext={formatDuration(value)}
      style={{ left: `${at * 100}%` }}
      onKeyDown={move}
    />
  );
}

/**
 * Returns handlers for an element that shows a time range. Dragging zooms to a
 * part of it, after a minimum distance.
 *
 * @param when Whether it zooms while the pointer moves, or when it is released.
 */
export function useZoomDrag(whole: TimeRange, when: "moving" | "released") {
  const from = useRef<number>(undefined);
  const zoom = (event: TargetedPointerEvent<HTMLElement>) => {
    if (from.current === undefined) return;
    const to = momentAt(event, event.currentTarget, whole);
    const least = (whole.end - whole.start) * 0.005;
    if (Math.abs(to - from.current) > least) zoomTo(from.current, to);
  };
  return {
    onPointerDown(event: TargetedPointerEvent<HTMLElement>) {
      if (event.button !== 0) return;
      from.current = momentAt(event, event.currentTarget, whole);
      event.currentTarget.setPointerCapture(event.pointerId);
    },
    onPointerMove(event: TargetedPointerEvent<HTMLElement>) {
      if (when === "moving") zoom(event);
    },
    onPointerUp(event: TargetedPointerEvent<HTMLElement>) {
      if (when === "released") zoom(event);
      from.current = undefined;
    },
    onPointerCancel: () => from.current = undefined,
  };
}

/** Returns the moment at the pointer. */
export function momentAt(
  { clientX }: MouseEvent,
  element: Element,
  { start, end }: TimeRange,
): number {
  const { left, width } = element.getBoundingClientRect();
  return start + clamp((clientX - left) / width, 0, 1) * (end - start);
}

/** The number of spans in the zoomed range, and buttons to zoom out. */
export function ZoomFoot({ tree }: { tree: TraceTree }) {
  const inRange = spansInRange.value;
  const isMore = !isWithin(extent.value, bounds.value);
  const isOut = !isWithin(range.value, bounds.value);
  if (zoom.value === undefined && !isMore) return null;
  const { start, end } = range.value;
  return (
    <footer class="zoom-foot">
      {inRange !== undefined && (
        <>
          <p role="status">
            {formatCount(inRange)} of {formatPlural(tree.nodes.length, "span")}
            <span class="muted">
              {formatDuration(start - origin.value)} to{" "}
              {formatDuration(end - origin.value)}
            </span>
          </p>
          <Chip title="Show the whole trace" hotkey="0">
            <Icon name="back" /> Whole trace
          </Chip>
        </>
      )}
      {isMore && !isOut && (
        <Chip
          title="Zoom out to work outside of the trace's total"
          onClick={() => zoomTo(extent.value.start, extent.value.end)}
        >
          Show {formatDuration(extent.value.end - extent.value.start)}{" "}
          with later work
        </Chip>
      )}
    </footer>
  );
}
