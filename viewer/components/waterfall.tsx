/**
 * The waterfall of a trace, and cells that it shares with the comparison.
 *
 * @module
 */

import { useMemo } from "preact/hooks";
import { detailOf } from "../../trace/export/attributes.ts";
import type { Interval } from "../../trace/export/self_time.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import { clicked } from "../dom.ts";
import type { CriticalPath } from "../model/critical_path.ts";
import { formatCount, formatDuration } from "../model/format.ts";
import { mostOf, sumOf } from "../model/numbers.ts";
import {
  isFailedUnit,
  isGroup,
  type Row,
  type Unit,
  unitTime,
} from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import {
  axisTicks,
  barBox,
  stripes,
  type TimeRange,
} from "../model/time_range.ts";
import { selfOf, selfTimeOf } from "../model/tree.ts";
import { critical, matches, rows, showCritical } from "../state/opened.ts";
import { selectedIndex, selectedRow, toggleRow } from "../state/selection.ts";
import { origin, panBy, range, zoomBy } from "../state/zoom.ts";
import { classes, Flag, Indent, Swatch, Twist } from "./controls.tsx";
import { type Column, column, Grid } from "./grid.tsx";
import { momentAt, useZoomDrag } from "./minimap.tsx";

/** The waterfall of the open trace. */
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
        </>
      ),
    },
  ];
}

function selfTimeText({ members }: Row): string {
  return formatDuration(sumOf(members, selfTimeOf));
}

function ticks() {
  return axisTicks(range.value, origin.value, 6);
}

/** Labels of later ticks are before the tick, where they fit. */
const LAST_TICK = 0.92;

function Axis() {
  // The axis must not change until the pointer is released.
  const drag = useZoomDrag(range.value, "released");
  return (
    <span
      role="columnheader"
      class="lane axis"
      aria-label="Time since the request began"
      {...drag}
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
  const axis = (event.currentTarget as Element).querySelector(".axis")!;
  zoomBy(Math.exp(delta / 300), momentAt(event, axis, range.value));
}

/** How many events are marked on a bar. */
const MAX_MARKS = 12;

/** The name of a span or group, with its badges. */
function UnitName({ row }: { row: Row }) {
  const { span } = row.node;
  const detail = detailOf(span);
  const below = sumOf(row.members, ({ errorsBelow }) => errorsBelow);
  return (
    <>
      <Indent depth={row.depth} />
      <Twist {...row} />
      <Swatch layer={span.layer} />
      <span class="label">{cutText(span.name, 200)}</span>
      {isGroup(row) && (
        <span class="times">× {formatCount(row.members.length)}</span>
      )}
      {isClientSpan(span) && <span class="tag">browser</span>}
      {isFailedUnit(row)
        ? <Flag label={span.status === "ok" ? "failed" : span.status} />
        : below > 0 && <Flag label={`${below} failed below`} below />}
      {detail !== undefined && (
        <span class="detail">{cutText(detail, 120)}</span>
      )}
    </>
  );
}

interface UnitProps {
  readonly unit: Unit;
  readonly visible: TimeRange;
}

/** Events of a span as marks on its bar. Groups have none. */
function EventMarks({ unit, visible }: UnitProps) {
  if (isGroup(unit)) return null;
  const { start, end } = visible;
  return unit.node.span.events.slice(0, MAX_MARKS).map((event, i) => {
    const at = (event.time - start) / (end - start);
    return at >= 0 && at <= 1 && (
      <span
        key={i}
        class={event.name === "exception" ? "mark failure" : "mark"}
        title={cutText(event.name, 100)}
        style={{ left: `${at * 100}%` }}
      />
    );
  });
}

interface UnitBarProps extends UnitProps {
  readonly class: string;
  /** The parts on the critical path, which are underlined. */
  readonly critical?: readonly Interval[];
}

/**
 * The bar of a span, or of all spans of a group. Self time has the full colour
 * of the layer, and the rest a lighter one.
 */
export function UnitBar(props: UnitBarProps) {
  const { unit, visible, critical = [] } = props;
  const { node, members } = unit;
  const end = mostOf(members, ({ span }) => span.endTime, -Infinity);
  const box = barBox(node.span.startTime, end, visible);
  if (box === undefined) return null;
  const color = `var(--layer-${node.span.layer})`;
  const tint = `color-mix(in oklab, ${color} 36%, var(--surface))`;
  const solid = isGroup(unit)
    ? members.map(({ span }): Interval => [span.startTime, span.endTime])
    : selfOf(node);
  const images = [stripes(solid, box.range, color, tint)];
  if (critical.length > 0) {
    images.unshift(stripes(critical, box.range, "var(--ink)", "transparent"));
  }
  return (
    <span
      class={classes(props.class, critical.length > 0 && "critical")}
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        backgroundImage: images.join(","),
      }}
    />
  );
}
