import type { Layer } from "../../trace/types.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import { detailOf } from "../model/attributes.ts";
import { formatCount, formatDuration } from "../model/format.ts";
import type { Interval } from "../model/intervals.ts";
import { barBox, stripes } from "../model/paint.ts";
import { groupTime, type Row } from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import type { TimeRange } from "../model/time_range.ts";
import { isFailed, selfOf } from "../model/tree.ts";
import { Cell, Indent, Swatch } from "./controls.tsx";
import { Icon } from "./icon.tsx";

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
  const { row, position, selected, match } = props;
  const { node, group } = row;
  const failed = group === undefined
    ? isFailed(node.span)
    : group.members.some((member) => isFailed(member.span));
  const duration = group === undefined ? node.span.duration : groupTime(group);
  const self = group === undefined
    ? node.selfTime
    : group.members.reduce((sum, member) => sum + member.selfTime, 0);
  const classes = [
    "row",
    selected ? "selected" : "",
    match ? "match" : "",
    failed ? "failed" : "",
  ].join(" ");
  return (
    <div
      class={classes}
      role="row"
      id={waterfallRowId(row)}
      data-row={row.id}
      aria-level={row.depth + 1}
      aria-rowindex={position}
      aria-selected={selected}
      aria-expanded={row.expandable ? row.expanded : undefined}
    >
      <NameCell row={row} failed={failed} />
      <Cell of="duration">{formatDuration(duration)}</Cell>
      <Cell of="self">{formatDuration(self)}</Cell>
      <Cell of="lane">
        {group === undefined ? <Bar {...props} /> : <GroupBar {...props} />}
      </Cell>
    </div>
  );
}

function NameCell({ row, failed }: { row: Row; failed: boolean }) {
  const { node, group } = row;
  const { span } = node;
  const detail = detailOf(span);
  const below = group === undefined
    ? node.errorsBelow
    : group.members.reduce((sum, member) => sum + member.errorsBelow, 0);
  return (
    <Cell of="name">
      <Indent depth={row.depth} />
      <span
        class={row.expanded ? "twist open" : "twist"}
        data-twist={row.expandable ? true : undefined}
      >
        {row.expandable && <Icon name="right" />}
      </span>
      <Swatch layer={span.layer} />
      <span class="label">{cutText(span.name, 200)}</span>
      {group !== undefined && (
        <span class="times">× {formatCount(group.members.length)}</span>
      )}
      {isClientSpan(span) && <span class="tag">browser</span>}
      {failed && (
        <span
          class="flag"
          title={span.status}
          role="img"
          aria-label={span.status}
        >
          !
        </span>
      )}
      {!failed && below > 0 && (
        <span
          class="flag below"
          title={`${below} failed below`}
          role="img"
          aria-label={`${below} failed below`}
        >
          !
        </span>
      )}
      {detail !== undefined && (
        <span class="detail">{cutText(detail, 120)}</span>
      )}
    </Cell>
  );
}

function Bar({ row, visible, critical }: WaterfallRowProps) {
  const { node } = row;
  const { span } = node;
  const length = visible.end - visible.start;
  return (
    <>
      <PaintedBar
        start={span.startTime}
        end={span.endTime}
        visible={visible}
        layer={span.layer}
        solid={selfOf(node)}
        critical={critical}
      />
      {span.events.slice(0, MAX_MARKS).map((event, i) => {
        const at = (event.time - visible.start) / length;
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
      })}
    </>
  );
}

function GroupBar({ row, visible, critical }: WaterfallRowProps) {
  const members = row.group!.members;
  let end = -Infinity;
  for (const { span } of members) end = Math.max(end, span.endTime);
  return (
    <PaintedBar
      start={members[0]!.span.startTime}
      end={end}
      visible={visible}
      layer={row.node.span.layer}
      solid={members.map(({ span }) => [span.startTime, span.endTime])}
      critical={critical}
    />
  );
}

interface PaintedBarProps {
  readonly start: number;
  readonly end: number;
  readonly visible: TimeRange;
  readonly layer: Layer;
  /** What is drawn in the full colour; the rest is a tint of it. */
  readonly solid: readonly Interval[];
  /** What is underlined. */
  readonly critical: readonly Interval[];
}

function PaintedBar(props: PaintedBarProps) {
  const { start, end, visible, layer, solid, critical } = props;
  const box = barBox(start, end, visible);
  if (box === undefined) return null;
  const color = `var(--layer-${layer})`;
  const tint = `color-mix(in oklab, ${color} 36%, var(--surface))`;
  const images = [stripes(solid, box.range, color, tint)];
  if (critical.length > 0) {
    images.unshift(stripes(critical, box.range, "var(--ink)", "transparent"));
  }
  return (
    <span
      class={critical.length > 0 ? "bar critical" : "bar"}
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        backgroundImage: images.join(","),
      }}
    />
  );
}
