import type { SpanData } from "../../trace/types.ts";
import { detailOf } from "../../trace/export/attributes.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import { formatCount, formatDuration } from "../model/format.ts";
import type { Interval } from "../../trace/export/self_time.ts";
import { mostOf, sumOf } from "../model/numbers.ts";
import { barBox, stripes } from "../model/paint.ts";
import {
  isFailedUnit,
  membersOf,
  type Row,
  type Unit,
  unitTime,
} from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import type { TimeRange } from "../model/time_range.ts";
import { selfOf, selfTimeOf } from "../model/tree.ts";
import { Cell, classes, Flag, Indent, Swatch, Twist } from "./controls.tsx";

/** How many events are marked on a bar. */
const MAX_MARKS = 12;

interface WaterfallRowProps {
  readonly row: Row;
  /** Its place among all rows, the head being the first. */
  readonly position: number;
  readonly visible: TimeRange;
  readonly selected: boolean;
  readonly match: boolean;
  /** When it was on the critical path; empty if that isn't shown. */
  readonly critical: readonly Interval[];
}

/** The id of the element of a row. */
export function waterfallRowId(row: Row): string {
  return `row-${row.id}`;
}

/** A row of the waterfall: a span, or a group of spans. */
export function WaterfallRow(props: WaterfallRowProps) {
  const { row, position, visible, selected, match, critical } = props;
  const failed = isFailedUnit(row);
  const self = sumOf(membersOf(row), selfTimeOf);
  return (
    <div
      class={classes(
        "row",
        selected && "selected",
        match && "match",
        failed && "failed",
      )}
      role="row"
      id={waterfallRowId(row)}
      data-row={row.id}
      aria-level={row.depth + 1}
      aria-rowindex={position}
      aria-selected={selected}
      aria-expanded={row.expandable ? row.expanded : undefined}
    >
      <NameCell row={row} failed={failed} />
      <Cell of="duration">{formatDuration(unitTime(row))}</Cell>
      <Cell of="self">{formatDuration(self)}</Cell>
      <Cell of="lane">
        <UnitBar
          class={critical.length > 0 ? "bar critical" : "bar"}
          unit={row}
          visible={visible}
          critical={critical}
        />
        {row.group === undefined && (
          <Marks span={row.node.span} visible={visible} />
        )}
      </Cell>
    </div>
  );
}

function NameCell({ row, failed }: { row: Row; failed: boolean }) {
  const { node, group } = row;
  const { span } = node;
  const detail = detailOf(span);
  const below = sumOf(membersOf(row), ({ errorsBelow }) => errorsBelow);
  return (
    <Cell of="name">
      <Indent depth={row.depth} />
      <Twist {...row} />
      <Swatch layer={span.layer} />
      <span class="label">{cutText(span.name, 200)}</span>
      {group !== undefined && (
        <span class="times">× {formatCount(group.members.length)}</span>
      )}
      {isClientSpan(span) && <span class="tag">browser</span>}
      {failed
        ? <Flag label={span.status === "ok" ? "failed" : span.status} />
        : below > 0 && <Flag label={`${below} failed below`} below />}
      {detail !== undefined && (
        <span class="detail">{cutText(detail, 120)}</span>
      )}
    </Cell>
  );
}

/** What happened at moments of a span. */
function Marks({ span, visible }: { span: SpanData; visible: TimeRange }) {
  const { start, end } = visible;
  return span.events.slice(0, MAX_MARKS).map((event, i) => {
    const at = (event.time - start) / (end - start);
    if (at < 0 || at > 1) return null;
    const failure = event.name === "exception";
    return (
      <span
        key={i}
        class={failure ? "mark failure" : "mark"}
        title={cutText(event.name, 100)}
        style={{ left: `${at * 100}%` }}
      />
    );
  });
}

interface UnitBarProps {
  readonly class: string;
  readonly unit: Unit;
  readonly visible: TimeRange;
  /** What is underlined. */
  readonly critical?: readonly Interval[];
}

/**
 * The bar of a span, or of all spans of a group: the time in which they ran by
 * themselves in the full colour of their layer, the rest in a tint of it.
 */
export function UnitBar(props: UnitBarProps) {
  const { unit, visible, critical = [] } = props;
  const { node: { span }, group } = unit;
  const members = membersOf(unit);
  const end = mostOf(members, ({ span }) => span.endTime, -Infinity);
  const box = barBox(span.startTime, end, visible);
  if (box === undefined) return null;
  const color = `var(--layer-${span.layer})`;
  const tint = `color-mix(in oklab, ${color} 36%, var(--surface))`;
  const solid = group === undefined
    ? selfOf(unit.node)
    : members.map(({ span }): Interval => [span.startTime, span.endTime]);
  const images = [stripes(solid, box.range, color, tint)];
  if (critical.length > 0) {
    images.unshift(stripes(critical, box.range, "var(--ink)", "transparent"));
  }
  return (
    <span
      class={props.class}
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        backgroundImage: images.join(","),
      }}
    />
  );
}
