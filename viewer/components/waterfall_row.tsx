import { detailOf, isClientSpan } from "../model/attributes.ts";
import { formatCount, formatDuration } from "../model/format.ts";
import type { Interval } from "../model/intervals.ts";
import { barBox, stripes } from "../model/paint.ts";
import { groupTime, type Row } from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import type { TimeRange } from "../model/time_range.ts";
import { isFailed } from "../model/tree.ts";
import { Icon } from "./icon.tsx";

/** How many levels are indented. Deeper ones stay where these end. */
const MAX_INDENT = 24;

/** How many events are marked on a bar. */
const MAX_MARKS = 12;

interface WaterfallRowProps {
  readonly row: Row;
  /** How far the row is from the first one, in pixels. */
  readonly top: number;
  /** Its place among all rows, the head being the first. */
  readonly position: number;
  readonly visible: TimeRange;
  readonly selected: boolean;
  readonly match: boolean;
  readonly critical: readonly Interval[] | undefined;
}

/** A row of the waterfall: a span, or a group of spans. */
export function WaterfallRow(props: WaterfallRowProps) {
  const { row, top, position, selected, match } = props;
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
      id={`row-${row.id}`}
      data-row={row.id}
      aria-level={row.depth + 1}
      aria-rowindex={position}
      aria-selected={selected}
      aria-expanded={row.expandable ? row.expanded : undefined}
      style={{ transform: `translateY(${top}px)` }}
    >
      <NameCell row={row} failed={failed} />
      <span role="gridcell" class="duration">{formatDuration(duration)}</span>
      <span role="gridcell" class="self">{formatDuration(self)}</span>
      <span role="gridcell" class="lane">
        {group === undefined ? <Bar {...props} /> : <GroupBar {...props} />}
      </span>
    </div>
  );
}

function NameCell({ row, failed }: { row: Row; failed: boolean }) {
  const { node, group } = row;
  const { span } = node;
  const detail = detailOf(span);
  const indent = Math.min(row.depth, MAX_INDENT);
  const below = group === undefined
    ? node.errorsBelow
    : group.members.reduce((sum, member) => sum + member.errorsBelow, 0);
  return (
    <span role="gridcell" class="name">
      <span
        class="indent"
        style={{ width: `calc(${indent} * var(--indent))` }}
      />
      <span
        class={row.expanded ? "twist open" : "twist"}
        data-twist={row.expandable ? true : undefined}
      >
        {row.expandable && <Icon name="right" />}
      </span>
      <span
        class="swatch"
        title={span.layer}
        style={{ background: `var(--layer-${span.layer})` }}
      />
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
    </span>
  );
}

function Bar({ row, visible, critical }: WaterfallRowProps) {
  const { node } = row;
  const { span } = node;
  const box = barBox(span.startTime, span.endTime, visible);
  if (box === undefined) return null;
  const color = `var(--layer-${span.layer})`;
  const tint = `color-mix(in oklab, ${color} 38%, var(--surface))`;
  const layers = [stripes(node.self, box.range, color, tint)];
  if (critical !== undefined && critical.length > 0) {
    layers.unshift(stripes(critical, box.range, "var(--ink)", "transparent"));
  }
  const length = visible.end - visible.start;
  return (
    <>
      <span
        class={critical === undefined ? "bar" : "bar critical"}
        style={{
          left: `${box.left}%`,
          width: `${box.width}%`,
          backgroundImage: layers.join(","),
        }}
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

function GroupBar({ row, visible }: WaterfallRowProps) {
  const members = row.group!.members;
  let start = Infinity;
  let end = -Infinity;
  for (const { span } of members) {
    start = Math.min(start, span.startTime);
    end = Math.max(end, span.endTime);
  }
  const box = barBox(start, end, visible);
  if (box === undefined) return null;
  const color = `var(--layer-${row.node.span.layer})`;
  const tint = `color-mix(in oklab, ${color} 22%, var(--surface))`;
  const intervals = members.map(({ span }) =>
    [span.startTime, span.endTime] as const
  );
  return (
    <span
      class="bar"
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        backgroundImage: stripes(intervals, box.range, color, tint),
      }}
    />
  );
}
