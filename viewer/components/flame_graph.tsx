import { useSignal } from "@preact/signals";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import { type Surface, useCanvas } from "../dom.ts";
import {
  flameFrames,
  type Frame,
  frameOf,
  type PlacedFrame,
  placeFrames,
} from "../model/flame.ts";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { cutText } from "../model/text.ts";
import type { SpanNode, TraceTree } from "../model/tree.ts";
import { revealSpan, selected } from "../state/selection.ts";
import { type Colors, colors, inkOn } from "../state/theme.ts";
import { Chip, Icon } from "./controls.tsx";
import { Table, type TableColumn } from "./table.tsx";

const ROW = 22;

/** Maximum frames in the table for screen readers, widest first. */
const MAX_LISTED = 60;

/** The total of the open trace as a flame graph. */
export function FlameGraph({ tree }: { tree: TraceTree }) {
  const frames = useMemo(() => flameFrames(tree), [tree]);
  const zoomed = useSignal(0);
  const hovered = useSignal<Frame | undefined>(undefined);
  const scrollTop = useSignal(0);
  useLayoutEffect(() => {
    zoomed.value = 0;
    hovered.value = undefined;
  }, [tree]);

  const top = frames[zoomed.value] ?? frames[0];
  const node = selected.value?.unit.node;
  const selectedFrame = node && frameOf(frames, node);
  const placed = useRef<PlacedFrame[]>([]);
  const palette = colors.value;
  const canvas = useCanvas((surface) => {
    if (top === undefined) return;
    placed.current = placeFrames(frames, top, surface.width);
    for (const place of placed.current) {
      drawFrame(surface, place, {
        palette,
        scrollTop: scrollTop.value,
        isAbove: place.frame.depth < top.depth,
        isSelected: place.frame === selectedFrame,
        whole: frames[0]!.time,
      });
    }
  }, [frames, top, selectedFrame, scrollTop.value, palette]);

  if (top === undefined) return null;
  const depth = mostOf(frames, (frame) => frame.depth);
  const told = hovered.value ?? selectedFrame ?? top;
  const frameAt = (event: MouseEvent) => {
    const area = canvas.current!.getBoundingClientRect();
    const row = Math.floor((event.clientY - area.top + scrollTop.value) / ROW);
    const x = event.clientX - area.left;
    return placed.current.find(({ frame, left, width }) =>
      frame.depth === row && x >= left && x <= left + width
    )?.frame;
  };
  const go = (frame: Frame | undefined) => {
    if (frame !== undefined) revealSpan(longest(frame).index);
  };
  return (
    <div class="flame">
      <div
        class="flame-box"
        id="flame"
        role="application"
        aria-label="Flame graph"
        aria-describedby="flame-told"
        tabIndex={0}
        data-place="trace"
        data-own-keys
        onScroll={(event) => scrollTop.value = event.currentTarget.scrollTop}
        onPointerMove={(event) => hovered.value = frameAt(event)}
        onPointerLeave={() => hovered.value = undefined}
        onClick={(event) => go(frameAt(event))}
        onDblClick={(event) => zoomed.value = frameAt(event)?.index ?? 0}
        onKeyDown={(event) => {
          const from = selectedFrame ?? top;
          const next = neighbour(from, event.key);
          if (event.key === "z") zoomed.value = from.index;
          else if (event.key === "0") zoomed.value = 0;
          else if (event.key.startsWith("Arrow")) go(next);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <canvas ref={canvas} class="flame-canvas">
          <Fallback frames={frames} />
        </canvas>
        <div style={{ height: `${(depth + 1) * ROW}px` }} />
      </div>
      <footer class="flame-foot">
        <p id="flame-told" role="status">
          {title(told)}: {timeOf(told, frames[0]!.time)}; itself{" "}
          {formatDuration(told.selfTime)}
          {told.failures > 0 && `; ${formatCount(told.failures)} failed`}
        </p>
        {zoomed.value > 0 && (
          <Chip
            title="The whole trace (0)"
            onClick={() => zoomed.value = 0}
          >
            <Icon name="back" /> Whole trace
          </Chip>
        )}
        <p class="muted hint">
          Width is the share of the total. Parallel spans divide their time.
          Double click or <kbd>z</kbd> zooms.
        </p>
      </footer>
    </div>
  );
}

interface FrameStyle {
  readonly palette: Colors;
  readonly scrollTop: number;
  /** Whether it is above the frame that is zoomed to. */
  readonly isAbove: boolean;
  readonly isSelected: boolean;
  /** The time for 100 %, in milliseconds. */
  readonly whole: number;
}

/** The height of the mark of a frame with failures. */
const FAILURE = 4;

function drawFrame(
  { context, height }: Surface,
  { frame, left, width }: PlacedFrame,
  { palette, scrollTop, isAbove, isSelected, whole }: FrameStyle,
): void {
  const y = frame.depth * ROW - scrollTop;
  if (y < -ROW || y > height) return;
  const inner = Math.max(width - 1, 0.5);
  const fill = palette[`layer-${frame.layer}`];
  const mark = frame.failures > 0 ? FAILURE : 0;
  context.globalAlpha = isAbove ? 0.45 : 1;
  context.fillStyle = fill;
  context.fillRect(left, y, inner, ROW - 1);
  if (mark > 0) {
    context.fillStyle = palette.surface;
    context.fillRect(left, y + ROW - 2 - mark, inner, mark + 1);
    context.fillStyle = palette.danger;
    context.fillRect(left, y + ROW - 1 - mark, inner, mark);
  }
  if (width > 28) {
    context.save();
    context.beginPath();
    context.rect(left, y, inner - 4, ROW - 1);
    context.clip();
    context.fillStyle = inkOn(fill);
    context.font = "11.5px system-ui, sans-serif";
    context.textBaseline = "middle";
    const name = `${mark > 0 ? "⚠ " : ""}${title(frame)}`;
    const middle = y + (ROW - mark) / 2;
    context.fillText(name, left + 5, middle);
    const time = timeOf(frame, whole);
    const from = left + inner - 6 - context.measureText(time).width;
    if (from > left + 17 + context.measureText(name).width) {
      context.fillText(time, from, middle);
    }
    context.restore();
  }
  context.globalAlpha = 1;
  if (isSelected) {
    context.lineWidth = 2;
    context.strokeStyle = palette.surface;
    context.strokeRect(left + 2.5, y + 2.5, inner - 5, ROW - 6);
    context.strokeStyle = palette.ink;
    context.strokeRect(left + 1, y + 1, inner - 2, ROW - 3);
  }
}

function title({ name, nodes }: Frame): string {
  const text = cutText(name, 120);
  return nodes.length === 1 ? text : `${text} × ${formatCount(nodes.length)}`;
}

/** Returns the time of a frame, and its share of the whole. */
function timeOf({ time }: Frame, whole: number): string {
  return `${formatDuration(time)}, ${formatShare(time, whole)}`;
}

function longest(frame: Frame): SpanNode {
  return frame.nodes.reduce((most, node) =>
    node.span.duration > most.span.duration ? node : most
  );
}

/** Returns the next frame for an arrow key. */
function neighbour(frame: Frame, key: string): Frame | undefined {
  if (key === "ArrowUp") return frame.parent;
  if (key === "ArrowDown") return frame.children[0];
  const siblings = frame.parent?.children ?? [frame];
  const step = key === "ArrowRight" ? 1 : -1;
  return siblings[siblings.indexOf(frame) + step];
}

const COLUMNS: readonly TableColumn<Frame>[] = [
  ["Spans", title],
  ["Time", ({ time }) => formatDuration(time)],
  ["Itself", ({ selfTime }) => formatDuration(selfTime)],
];

/** The widest frames as a table, for screen readers. */
function Fallback({ frames }: { frames: readonly Frame[] }) {
  const byTime = frames.toSorted((a, b) => b.time - a.time);
  return (
    <Table columns={COLUMNS} items={byTime.slice(0, MAX_LISTED)}>
      Time per span name, longest first
    </Table>
  );
}
