/**
 * The waterfall of a trace, and cells that it shares with the comparison.
 *
 * @module
 */

import { useMemo } from "preact/hooks";
import { detailOf } from "../../trace/export/attributes.ts";
import { clicked } from "../dom.ts";
import type { CriticalPath } from "../model/critical_path.ts";
import { formatCount, formatDuration } from "../model/format.ts";
import { sumOf } from "../model/numbers.ts";
import { HOME, processOf } from "../model/process.ts";
import { isFailedUnit, isGroup, type Row, unitTime } from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import { axisTicks, type TimeRange } from "../model/time_range.ts";
import { selfTimeOf } from "../model/tree.ts";
import type { VitalMark } from "../model/vitals.ts";
import { critical, showCritical } from "../state/opened.ts";
import { highlighted, matches, rows, vitals } from "../state/rows.ts";
import { selectedIndex, selectedRow, toggleRow } from "../state/selection.ts";
import { bounds, origin, panBy, range, zoomBy } from "../state/zoom.ts";
import { Beyond, EventMarks, isRunning, SpanLabel, UnitBar } from "./bars.tsx";
import { classes, Flag } from "./controls.tsx";
import { type Column, column, Grid } from "./grid.tsx";
import { Splitter } from "./splitter.tsx";
import { momentAt, useZoomDrag } from "./zoom_controls.tsx";

/** The waterfall of the open trace. */
export function Waterfall() {
  const id = selectedRow.value;
  const found = new Set(matches.value);
  const path = showCritical.value ? critical.value : undefined;
  const visible = range.value;
  const total = bounds.value;
  const columns = useMemo(
    () => columnsOf(visible, total, path),
    [visible, total, path],
  );
  return (
    <div class="waterfall-box">
      <Grid
        id="waterfall"
        label="Spans"
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
            row.members.some((node) => path?.(node)?.length) && "on-path",
          ),
          "aria-level": row.depth + 1,
          "aria-selected": row.id === id,
          "aria-expanded": row.expandable ? row.expanded : undefined,
        })}
        reveal={[id, highlighted.value]}
        onPick={select}
        onDoublePick={(row, event) => {
          if (!clicked(event, "twist")) toggleRow(row);
        }}
        onWheel={zoomWithWheel}
        behind={<GridLines />}
      />
      <Splitter pane="name" />
    </div>
  );
}

function columnsOf(
  visible: TimeRange,
  total: TimeRange,
  path: CriticalPath | undefined,
): Column<Row>[] {
  return [
    column("name", "Span", (row) => <UnitName row={row} />),
    column("duration", "Duration", durationText),
    column("self", "Self", selfTimeText, {
      hint: "Duration without the time of its children",
    }),
    {
      name: "lane",
      head: () => <Axis />,
      cell: (row) => (
        <>
          <UnitBar
            class="bar"
            unit={row}
            visible={visible}
            critical={row.members.flatMap((member) => path?.(member) ?? [])}
          />
          <EventMarks unit={row} visible={visible} />
          <Beyond unit={row} visible={visible} total={total} />
        </>
      ),
    },
  ];
}

function durationText(row: Row): string {
  return isRunning(row) ? "running" : formatDuration(unitTime(row));
}

function selfTimeText(row: Row): string {
  return isRunning(row) ? "" : formatDuration(sumOf(row.members, selfTimeOf));
}

function ticks() {
  return axisTicks(range.value, origin.value, 6);
}

/** The label of a later tick is before it, where it fits. */
const LAST_TICK = 0.92;

/** The share of the axis that two labels need. */
const TWO_LABELS = 0.24;

function Axis() {
  // The axis must not change until the pointer is released.
  const drag = useZoomDrag(range.value, "released");
  const marks = ticks();
  const isTight = (marks[1]?.at ?? 1) - (marks[0]?.at ?? 0) < TWO_LABELS;
  return (
    <span
      role="columnheader"
      class="lane axis"
      aria-label="Time since the trace began"
      {...drag}
    >
      {marks.map(({ value, at, label }) => (
        <span
          class={at > LAST_TICK ? "tick last" : "tick"}
          key={value}
          style={{ left: `${at * 100}%` }}
        >
          {at > LAST_TICK && isTight ? "" : label}
        </span>
      ))}
      {vitalPlaces().map(({ name, at, text }, i) => (
        <span
          class={i === 0 ? "vital first" : "vital"}
          key={name}
          title={text}
          style={{ left: `${at * 100}%` }}
        >
          {name}
        </span>
      ))}
    </span>
  );
}

/** Returns the moments of the page load within the visible range. */
function vitalPlaces(): (VitalMark & { readonly at: number })[] {
  const { start, end } = range.value;
  return vitals.value.marks
    .map((mark) => ({ ...mark, at: (mark.time - start) / (end - start) }))
    .filter(({ at }) => at >= 0 && at <= 1);
}

function GridLines() {
  return (
    <div class="grid-lines" role="presentation">
      <div>
        {ticks().map(({ value, at }) => (
          <span key={value} style={{ left: `${at * 100}%` }} />
        ))}
        {vitalPlaces().map(({ name, at }) => (
          <span class="vital" key={name} style={{ left: `${at * 100}%` }} />
        ))}
      </div>
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
  const axis = (event.currentTarget as Element).querySelector(".axis")!;
  zoomBy(Math.exp(delta / 300), momentAt(event, axis, range.value));
}

/** The name of a span or group, with its badges. */
function UnitName({ row }: { row: Row }) {
  const { span, parent } = row.node;
  const process = processOf(span);
  const above = parent === null ? HOME : processOf(parent.span);
  const detail = detailOf(span);
  const below = sumOf(row.members, ({ errorsBelow }) => errorsBelow);
  return (
    <>
      <SpanLabel row={row} span={span} />
      {isGroup(row) && (
        <span class="times">× {formatCount(row.members.length)}</span>
      )}
      {process !== above && <span class="tag">{cutText(process, 40)}</span>}
      {isFailedUnit(row)
        ? <Flag label={span.status === "ok" ? "failed" : span.status} />
        : below > 0 && <Flag label={`${below} failed below`} below />}
      {detail !== undefined && (
        <span class="detail">{cutText(detail, 120)}</span>
      )}
    </>
  );
}
