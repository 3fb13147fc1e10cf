import { formatCount, formatDuration, formatPlural } from "../model/format.ts";
import { isWithin } from "../model/time_range.ts";
import type { TraceTree } from "../model/tree.ts";
import { spansInRange } from "../state/rows.ts";
import { bounds, extent, origin, range, zoom, zoomTo } from "../state/zoom.ts";
import { Chip, Icon } from "./controls.tsx";

/** The number of spans in the zoomed range, and buttons to zoom out. */
export function ZoomFoot({ tree }: { tree: TraceTree }) {
  const inRange = spansInRange.value;
  const isMore = !isWithin(extent.value, bounds.value);
  const isOut = !isWithin(range.value, bounds.value);
  if (zoom.value === undefined && !isMore) return null;
  const { start, end } = range.value;
  return (
    <footer class="zoom-foot">
      {inRange !== undefined && (
        <>
          <p role="status">
            {formatCount(inRange)} of {formatPlural(tree.nodes.length, "span")}
            <span class="muted">
              {formatDuration(start - origin.value)} to{" "}
              {formatDuration(end - origin.value)}
            </span>
          </p>
          <Chip title="Show the whole trace" hotkey="0">
            <Icon name="back" /> Whole trace
          </Chip>
        </>
      )}
      {isMore && !isOut && (
        <Chip
          title="Zoom out to work outside of the trace's total"
          onClick={() => zoomTo(extent.value.start, extent.value.end)}
        >
          Show {formatDuration(extent.value.end - extent.value.start)}{" "}
          with later work
        </Chip>
      )}
    </footer>
  );
}
