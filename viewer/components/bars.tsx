/**
 * The names and bars of spans, for the waterfall and for the comparison.
 *
 * @module
 */

import { isOpenSpan } from "../../trace/export/semantics.ts";
import type { Interval } from "../../trace/export/self_time.ts";
import type { SpanData } from "../../trace/types.ts";
import type { ComparedRow } from "../model/compare.ts";
import { formatDuration } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { isGroup, type Row, type Unit } from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import { barBox, stripes, type TimeRange } from "../model/time_range.ts";
import { selfOf } from "../model/tree.ts";
import { classes, Icon, Swatch } from "./controls.tsx";

interface SpanLabelProps {
  readonly row: Row | ComparedRow;
  readonly span: SpanData;
}

/**
 * The name of a span: a guide for each level above, the arrow that opens and
 * closes its row, the colour of its layer, and the name itself.
 */
export function SpanLabel({ row, span }: SpanLabelProps) {
  const { depth, expandable, expanded } = row;
  // Deeper levels aren't indented more, because the name must fit.
  const width = `calc(${Math.min(depth, 24)} * var(--indent))`;
  return (
    <>
      <span class="indent" style={{ width }} />
      <span
        class={expanded ? "twist open" : "twist"}
        data-twist={expandable || undefined}
      >
        {expandable && <Icon name="right" />}
      </span>
      <Swatch layer={span.layer} />
      <span class="label">{cutText(span.name, 200)}</span>
    </>
  );
}

/** How many events are marked on a bar. */
const MAX_MARKS = 12;

interface UnitProps {
  readonly unit: Unit;
  readonly visible: TimeRange;
}

/** Events of a span as marks on its bar. Groups have none. */
export function EventMarks({ unit, visible }: UnitProps) {
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
 * of the layer, and the rest a lighter one. A running span has no end.
 */
export function UnitBar(props: UnitBarProps) {
  const { unit, visible, critical = [] } = props;
  const { node, members } = unit;
  const running = isRunning(unit);
  const end = running ? visible.end : endOf(unit);
  const box = barBox(node.span.startTime, end, visible);
  if (box === undefined) return null;
  const color = `var(--layer-${node.span.layer})`;
  const tint = `color-mix(in oklab, ${color} 36%, var(--surface))`;
  const solid = isGroup(unit)
    ? members.map(({ span }): Interval => [span.startTime, span.endTime])
    : running
    ? []
    : selfOf(node);
  const images = [stripes(solid, box.range, color, tint)];
  if (critical.length > 0) {
    images.unshift(stripes(critical, box.range, "var(--ink)", "transparent"));
  }
  return (
    <span
      class={classes(
        props.class,
        critical.length > 0 && "critical",
        running && "running",
      )}
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        backgroundImage: images.join(","),
      }}
    />
  );
}

/** Whether a span of a unit hasn't ended. */
export function isRunning({ members }: Unit): boolean {
  return members.some(({ span }) => isOpenSpan(span));
}

function endOf({ members }: Unit): number {
  return mostOf(members, ({ span }) => span.endTime, -Infinity);
}

/** An arrow for a span that goes on outside of the trace's total. */
export function Beyond(
  { unit, visible, total }: UnitProps & { readonly total: TimeRange },
) {
  const { startTime } = unit.node.span;
  const later = endOf(unit) - Math.max(visible.end, total.end);
  const earlier = Math.min(visible.start, total.start) - startTime;
  return (
    <>
      {earlier > MARGIN && <Arrow edge="early" time={earlier} />}
      {later > MARGIN && <Arrow edge="late" time={later} />}
    </>
  );
}

/** Less than this is rounding, in milliseconds. */
const MARGIN = 0.002;

function Arrow({ edge, time }: { edge: "early" | "late"; time: number }) {
  const when = edge === "late" ? "after" : "before";
  const label = `Goes on ${formatDuration(time)} ${when} the shown time`;
  return (
    <span class={`beyond ${edge}`} title={label} role="img" aria-label={label}>
      {edge === "late" ? "›" : "‹"}
    </span>
  );
}
