import type { TraceEntry } from "../model/summary.ts";
import type { TraceTree } from "../model/tree.ts";
import { comparedTrace, openedTrace, showCritical } from "../state/opened.ts";
import { comparison } from "../state/rows.ts";
import { closeTrace, selected, view } from "../state/selection.ts";
import { missing } from "../state/url_sync.ts";
import { CompareGrid, CompareHeader } from "./compare.tsx";
import { Chip } from "./controls.tsx";
import { CriticalSummary } from "./critical_summary.tsx";
import { FlameGraph } from "./flame_graph.tsx";
import { SpanPanel } from "./span_panel.tsx";
import { Splitter } from "./splitter.tsx";
import { LayerLegend, TraceHeader } from "./trace_header.tsx";
import { Waterfall } from "./waterfall.tsx";
import { WorkTable } from "./work_table.tsx";
import { Minimap, ZoomFoot } from "./zoom_controls.tsx";

/** The open trace, a comparison, or the reason why neither is shown. */
export function TracePane() {
  const open = openedTrace.value;
  if (open?.tree) return <OpenTrace entry={open.entry} tree={open.tree} />;
  return (
    <section class="trace-pane empty" aria-label="Trace">
      {open !== undefined
        ? (
          <>
            <h2>This trace can't be read</h2>
            <p>Its record is damaged. You can still open other traces.</p>
            <pre>{open.failure?.slice(0, 1000)}</pre>
          </>
        )
        : missing.value
        ? (
          <>
            <h2>This trace isn't here</h2>
            <p>
              The server may have restarted, or dropped it for newer traces.
            </p>
          </>
        )
        : <p role="status">Looking for the trace…</p>}
      <Chip onClick={closeTrace}>Show the list</Chip>
    </section>
  );
}

function OpenTrace({ entry, tree }: { entry: TraceEntry; tree: TraceTree }) {
  const both = comparison.value;
  const other = comparedTrace.value?.entry;
  return (
    <section
      class={selected.value ? "trace-pane with-details" : "trace-pane"}
      aria-label={both ? "Comparison" : "Trace"}
    >
      {both && other ? <CompareHeader a={entry} b={other} /> : (
        <>
          <TraceHeader entry={entry} tree={tree} />
          <LayerLegend entry={entry} />
        </>
      )}
      <div class="trace-body">
        <div class="chart">
          {both
            ? <CompareGrid rows={both.rows} />
            : view.value === "flame"
            ? <FlameGraph tree={tree} />
            : view.value === "table"
            ? <WorkTable />
            : (
              <>
                {showCritical.value && <CriticalSummary tree={tree} />}
                <Minimap tree={tree} />
                <Waterfall />
                <ZoomFoot tree={tree} />
              </>
            )}
        </div>
        {selected.value && (
          <>
            <Splitter pane="details" />
            <SpanPanel {...selected.value} />
          </>
        )}
      </div>
    </section>
  );
}
