import { useLayoutEffect } from "preact/hooks";
import { axisTicks, panRange, zoomRange } from "../model/time_range.ts";
import { setZoom } from "../state/keyboard.ts";
import {
  bounds,
  critical,
  matches,
  origin,
  range,
  rows as allRows,
  selectedIndex,
  selectedRow,
  showCritical,
  toggleRow,
  tree,
} from "../state/selection.ts";
import { useDrag } from "./minimap.tsx";
import { useVirtualRows } from "./use_virtual_rows.ts";
import { WaterfallRow } from "./waterfall_row.tsx";

const ROW_HEIGHT = 24;

/** The spans of the open trace against time. */
export function Waterfall() {
  const list = allRows.value;
  const rows = useVirtualRows(list.length, ROW_HEIGHT, ROW_HEIGHT);
  const at = selectedIndex.value;
  const id = selectedRow.value;
  useLayoutEffect(() => rows.reveal(at), [id]);
  const found = new Set(matches.value);
  const path = showCritical.value ? critical.value : undefined;
  return (
    <div
      class="grid waterfall"
      role="treegrid"
      id="waterfall"
      aria-label="Spans"
      aria-rowcount={list.length + 1}
      aria-activedescendant={at >= rows.first && at < rows.end
        ? `row-${id}`
        : undefined}
      tabIndex={0}
      data-place="trace"
      ref={rows.ref}
      onClick={select}
      onDblClick={toggleClicked}
      onWheel={zoomWithWheel}
    >
      <div class="grid-head" role="row">
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
      </div>
      <div
        class="rows"
        role="rowgroup"
        style={{ height: `${list.length * ROW_HEIGHT}px` }}
      >
        <GridLines />
        {list.slice(rows.first, rows.end).map((row, i) => (
          <WaterfallRow
            key={row.id}
            row={row}
            top={(rows.first + i) * ROW_HEIGHT}
            position={rows.first + i + 2}
            visible={range.value}
            selected={row.id === id}
            match={row.group === undefined
              ? found.has(row.node.index)
              : row.group.members.some(({ index }) => found.has(index))}
            critical={path?.get(row.node)}
          />
        ))}
      </div>
    </div>
  );
}

function ticks() {
  return axisTicks(range.value, origin.value, 6);
}

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
        <span class="tick" key={value} style={{ left: `${at * 100}%` }}>
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
  const id = (event.target as Element)
    .closest<HTMLElement>("[data-row]")?.dataset.row;
  return allRows.value.find((row) => row.id === id);
}

function select(event: MouseEvent): void {
  const row = clickedRow(event);
  if (row === undefined) return;
  if ((event.target as Element).closest("[data-twist]")) toggleRow(row);
  else selectedRow.value = row.id;
}

function toggleClicked(event: MouseEvent): void {
  const row = clickedRow(event);
  if (row !== undefined && !(event.target as Element).closest("[data-twist]")) {
    toggleRow(row);
  }
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
  const share = Math.min(
    Math.max((event.clientX - lane.left) / lane.width, 0),
    1,
  );
  const { start, end } = range.value;
  const about = start + (end - start) * share;
  setZoom(zoomRange(range.value, Math.exp(delta / 300), about, bounds.value));
}
