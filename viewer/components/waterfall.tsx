import type { CriticalPath } from "../model/critical_path.ts";
import type { Interval } from "../../trace/export/self_time.ts";
import { clicked } from "../dom.ts";
import { clamp } from "../model/numbers.ts";
import { membersOf, type Row } from "../model/rows.ts";
import { axisTicks, panRange, zoomRange } from "../model/time_range.ts";
import { setZoom } from "../state/keyboard.ts";
import {
  bounds,
  critical,
  matches,
  origin,
  range,
  rows,
  showCritical,
  tree,
} from "../state/opened.ts";
import { selectedIndex, selectedRow, toggleRow } from "../state/selection.ts";
import { useDrag } from "./minimap.tsx";
import { VirtualGrid } from "./virtual_grid.tsx";
import { WaterfallRow, waterfallRowId } from "./waterfall_row.tsx";

/** The spans of the open trace against time. */
export function Waterfall() {
  const id = selectedRow.value;
  const found = new Set(matches.value);
  const path = showCritical.value ? critical.value : undefined;
  return (
    <VirtualGrid
      id="waterfall"
      label="Spans"
      role="treegrid"
      place="trace"
      items={rows.value}
      rowHeight={24}
      active={selectedIndex.value}
      rowId={waterfallRowId}
      reveal={[id]}
      onClick={select}
      onDblClick={toggleClicked}
      onWheel={zoomWithWheel}
      behind={<GridLines />}
      head={
        <>
          <span role="columnheader" class="name">Span</span>
          <span role="columnheader" class="duration">Duration</span>
          <span
            role="columnheader"
            class="self"
            title="Duration minus the time in which a child ran"
          >
            Self
          </span>
          <Axis />
        </>
      }
      row={(row, index) => (
        <WaterfallRow
          key={row.id}
          row={row}
          position={index + 2}
          visible={range.value}
          selected={row.id === id}
          match={membersOf(row).some(({ index }) => found.has(index))}
          critical={criticalParts(path, row)}
        />
      )}
    />
  );
}

const NONE: readonly Interval[] = [];

/** The same list as last time where possible: then the row isn't drawn anew. */
function criticalParts(path: CriticalPath | undefined, { node, group }: Row) {
  if (path === undefined) return NONE;
  if (group === undefined) return path(node) ?? NONE;
  return group.members.flatMap((member) => path(member) ?? NONE);
}

function ticks() {
  return axisTicks(range.value, origin.value, 6);
}

/** From where on a label stands before its tick: after it is no room. */
const LAST_TICK = 0.92;

function Axis() {
  const drag = useDrag((from, to) => {
    const { start, end } = range.peek();
    const length = end - start;
    pendingZoom = { start: start + from * length, end: start + to * length };
  });
  return (
    <span
      role="columnheader"
      class="lane axis"
      aria-label="Time since the request began"
      {...drag}
      onPointerUp={() => {
        drag.onPointerUp();
        if (pendingZoom === undefined) return;
        const { start, end } = pendingZoom;
        pendingZoom = undefined;
        setZoom({ start: Math.min(start, end), end: Math.max(start, end) });
      }}
    >
      {ticks().map(({ value, at, label }) => (
        <span
          class={at > LAST_TICK ? "tick last" : "tick"}
          key={value}
          style={{ left: `${at * 100}%` }}
        >
          {label}
        </span>
      ))}
    </span>
  );
}

/** What is being dragged over on the axis: zoomed to when the pointer is up. */
let pendingZoom: { start: number; end: number } | undefined;

function GridLines() {
  return (
    <div class="grid-lines" role="presentation">
      {ticks().map(({ value, at }) => (
        <span key={value} style={{ left: `${at * 100}%` }} />
      ))}
    </div>
  );
}

function clickedRow(event: MouseEvent) {
  const id = clicked(event, "row");
  return rows.value.find((row) => row.id === id);
}

function select(event: MouseEvent): void {
  const row = clickedRow(event);
  if (row === undefined) return;
  if (clicked(event, "twist")) toggleRow(row);
  else selectedRow.value = row.id;
}

function toggleClicked(event: MouseEvent): void {
  const row = clickedRow(event);
  if (row !== undefined && !clicked(event, "twist")) toggleRow(row);
}

function zoomWithWheel(event: WheelEvent): void {
  if (tree.value === undefined || !(event.ctrlKey || event.shiftKey)) return;
  event.preventDefault();
  const delta = event.deltaY || event.deltaX;
  if (event.shiftKey) {
    setZoom(panRange(range.value, delta / 1000, bounds.value));
    return;
  }
  const lane = (event.currentTarget as Element).querySelector(".axis")!
    .getBoundingClientRect();
  const share = clamp((event.clientX - lane.left) / lane.width, 0, 1);
  const { start, end } = range.value;
  const about = start + (end - start) * share;
  setZoom(zoomRange(range.value, Math.exp(delta / 300), about, bounds.value));
}
