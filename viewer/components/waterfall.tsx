import { useMemo, useRef } from "preact/hooks";
import type { Interval } from "../../trace/export/self_time.ts";
import { clicked } from "../dom.ts";
import type { CriticalPath } from "../model/critical_path.ts";
import { formatDuration } from "../model/format.ts";
import { isFailedUnit, unitTime } from "../model/groups.ts";
import { clamp, sumOf } from "../model/numbers.ts";
import type { Row } from "../model/rows.ts";
import { axisTicks, type TimeRange } from "../model/time_range.ts";
import { selfTimeOf } from "../model/tree.ts";
import { critical, matches, rows, showCritical } from "../state/opened.ts";
import { selectedIndex, selectedRow, toggleRow } from "../state/selection.ts";
import { origin, panBy, range, zoomBy, zoomTo } from "../state/zoom.ts";
import { classes } from "./controls.tsx";
import { type Column, column, Grid } from "./grid.tsx";
import { useDrag } from "./minimap.tsx";
import { EventMarks, UnitBar, UnitName } from "./unit_cells.tsx";

/** The spans of the open trace against time. */
export function Waterfall() {
  const id = selectedRow.value;
  const found = new Set(matches.value);
  const path = showCritical.value ? critical.value : undefined;
  const visible = range.value;
  const columns = useMemo(() => columnsOf(visible, path), [visible, path]);
  return (
    <Grid
      id="waterfall"
      label="Spans"
      role="treegrid"
      place="trace"
      items={rows.value}
      columns={columns}
      rowHeight={24}
      active={selectedIndex.value}
      idOf={(row) => row.id}
      row={(row) => ({
        class: classes(
          "row",
          row.id === id && "selected",
          row.members.some(({ index }) => found.has(index)) && "match",
          isFailedUnit(row) && "failed",
        ),
        "aria-level": row.depth + 1,
        "aria-selected": row.id === id,
        "aria-expanded": row.expandable ? row.expanded : undefined,
      })}
      reveal={[id]}
      onPick={select}
      onDoublePick={(row, event) => {
        if (!clicked(event, "twist")) toggleRow(row);
      }}
      onWheel={zoomWithWheel}
      behind={<GridLines />}
    />
  );
}

function columnsOf(
  visible: TimeRange,
  path: CriticalPath | undefined,
): Column<Row>[] {
  return [
    column("name", "Span", (row) => <UnitName row={row} />),
    column("duration", "Duration", (row) => formatDuration(unitTime(row))),
    column("self", "Self", selfTimeText, {
      hint: "Duration minus the time in which a child ran",
    }),
    {
      name: "lane",
      head: () => <Axis />,
      cell: (row) => {
        const parts = criticalParts(path, row);
        return (
          <>
            <UnitBar
              class={parts.length > 0 ? "bar critical" : "bar"}
              unit={row}
              visible={visible}
              critical={parts}
            />
            <EventMarks unit={row} visible={visible} />
          </>
        );
      },
    },
  ];
}

function selfTimeText({ members }: Row): string {
  return formatDuration(sumOf(members, selfTimeOf));
}

function criticalParts(path: CriticalPath | undefined, row: Row): Interval[] {
  return row.members.flatMap((member) => path?.(member) ?? []);
}

function ticks() {
  return axisTicks(range.value, origin.value, 6);
}

/** Labels of later ticks stand before the tick, where there is room. */
const LAST_TICK = 0.92;

function Axis() {
  // Zooms once the pointer is up: until then the axis must stay as it is.
  const dragged = useRef<readonly [from: number, to: number]>(undefined);
  const drag = useDrag((from, to) => dragged.current = [from, to]);
  return (
    <span
      role="columnheader"
      class="lane axis"
      aria-label="Time since the request began"
      {...drag}
      onPointerUp={() => {
        drag.onPointerUp();
        if (dragged.current === undefined) return;
        const { start, end } = range.peek();
        const [a, b] = dragged.current.map((share) =>
          start + share * (end - start)
        );
        dragged.current = undefined;
        zoomTo(a!, b!);
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

function GridLines() {
  return (
    <div class="grid-lines" role="presentation">
      {ticks().map(({ value, at }) => (
        <span key={value} style={{ left: `${at * 100}%` }} />
      ))}
    </div>
  );
}

function select(row: Row, event: MouseEvent): void {
  if (clicked(event, "twist")) toggleRow(row);
  else selectedRow.value = row.id;
}

function zoomWithWheel(event: WheelEvent): void {
  if (!event.ctrlKey && !event.shiftKey) return;
  event.preventDefault();
  const delta = event.deltaY || event.deltaX;
  if (event.shiftKey) {
    panBy(delta / 1000);
    return;
  }
  const lane = (event.currentTarget as Element).querySelector(".axis")!
    .getBoundingClientRect();
  const share = clamp((event.clientX - lane.left) / lane.width, 0, 1);
  const { start, end } = range.value;
  zoomBy(Math.exp(delta / 300), start + (end - start) * share);
}
