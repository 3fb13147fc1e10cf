import { useMemo } from "preact/hooks";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import { cutText } from "../model/text.ts";
import type { Work } from "../model/work.ts";
import { bounds } from "../state/zoom.ts";
import { highlighted, sortedWork, workOrder } from "../state/rows.ts";
import { showWork, workCursor } from "../state/selection.ts";
import { classes, Swatch } from "./controls.tsx";
import { type Column, column, Grid } from "./grid.tsx";

/** The work of the open trace, added up by statement, key, procedure and path. */
export function WorkTable() {
  const list = sortedWork.value;
  const cursor = workCursor.value;
  const total = bounds.value.end - bounds.value.start;
  const columns = useMemo(() => columnsOf(total), [total]);
  return (
    <Grid
      id="work-table"
      label="Repeated work"
      place="trace"
      role="grid"
      items={list}
      columns={columns}
      order={workOrder}
      rowHeight={24}
      active={list.findIndex(({ id }) => id === cursor)}
      idOf={(_, i) => String(i)}
      row={({ id }) => ({
        class: classes(
          "row",
          id === cursor && "cursor",
          id === highlighted.value && "selected",
        ),
        "aria-selected": id === highlighted.value,
      })}
      reveal={[cursor]}
      onPick={(work) => showWork(work, "waterfall")}
    >
      {list.length === 0 && (
        <p class="no-rows">
          This trace has no statements, cache keys, procedures or fetches.
        </p>
      )}
    </Grid>
  );
}

function columnsOf(total: number): Column<Work>[] {
  return [
    column("kind", "Kind", ({ kind, nodes }) => (
      <>
        <Swatch layer={nodes[0]!.span.layer} />{" "}
        {kind.charAt(0).toUpperCase() + kind.slice(1)}
      </>
    )),
    column("name", "Work", ({ name }) => cutText(name, 300), {
      title: ({ name }) => cutText(name, 1000),
    }),
    column("count", "Count", ({ count }) => formatCount(count)),
    column("total", "Total", (work) => formatDuration(work.total), {
      title: (work) => `${formatShare(work.total, total)} of the trace's total`,
    }),
    column("median", "Median", ({ median }) => formatDuration(median)),
    column("longest", "Longest", ({ longest }) => formatDuration(longest)),
  ];
}
