/**
 * Cells of a span, or of a group of spans.
 *
 * @module
 */

import { detailOf } from "../../trace/export/attributes.ts";
import type { Interval } from "../../trace/export/self_time.ts";
import { isClientSpan } from "../../trace/export/semantics.ts";
import { formatCount } from "../model/format.ts";
import { isFailedUnit, isGroup, type Unit } from "../model/groups.ts";
import { mostOf, sumOf } from "../model/numbers.ts";
import { barBox, stripes } from "../model/paint.ts";
import type { Row } from "../model/rows.ts";
import { cutText } from "../model/text.ts";
import type { TimeRange } from "../model/time_range.ts";
import { selfOf } from "../model/tree.ts";
import { Flag, Indent, Swatch, Twist } from "./controls.tsx";

/** How many events are marked on a bar. */
const MAX_MARKS = 12;

/** The name of a span or group, with its badges. */
export function UnitName({ row }: { row: Row }) {
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
 * of the layer, the rest a tint of it.
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
      class={props.class}
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        backgroundImage: images.join(","),
      }}
    />
  );
}
