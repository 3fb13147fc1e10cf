import {
  closeTrace,
  compared,
  opened,
  rows,
  selectedIndex,
  view,
  wantedCompare,
} from "../state/selection.ts";
import { missing } from "../state/url_sync.ts";
import { CompareView } from "./compare_view.tsx";
import { Chip } from "./controls.tsx";
import { FlameGraph } from "./flame_graph.tsx";
import { LayerLegend } from "./layer_legend.tsx";
import { Minimap } from "./minimap.tsx";
import { SpanPanel } from "./span_panel.tsx";
import { TraceHeader } from "./trace_header.tsx";
import { Waterfall } from "./waterfall.tsx";

/** The open trace, or two of them. */
export function TracePane() {
  const open = opened.value;
  const other = compared.value;
  if (open === undefined) return <MissingTrace />;
  if (open.kind === "broken") return <BrokenTrace message={open.message} />;
  if (wantedCompare.value !== "" && other?.kind === "tree") {
    return <CompareView a={open.tree} b={other.tree} />;
  }
  const row = rows.value[selectedIndex.value];
  return (
    <section
      class={row === undefined ? "trace-pane" : "trace-pane with-details"}
      aria-label="Trace"
    >
      <TraceHeader entry={open.entry} tree={open.tree} />
      <LayerLegend entry={open.entry} />
      <div class="trace-body">
        <div class="chart">
          {view.value === "flame" ? <FlameGraph tree={open.tree} /> : (
            <>
              <Minimap tree={open.tree} />
              <Waterfall />
            </>
          )}
        </div>
        {row !== undefined && <SpanPanel row={row} />}
      </div>
    </section>
  );
}

function MissingTrace() {
  return (
    <section class="trace-pane empty" aria-label="Trace">
      {missing.value
        ? (
          <>
            <h2>This trace isn't here</h2>
            <p>
              The link may be of another run of the server, or the trace was
              dropped to make room for newer ones.
            </p>
          </>
        )
        : <p role="status">Looking for the trace…</p>}
      <Chip onClick={closeTrace}>Show the list</Chip>
    </section>
  );
}

function BrokenTrace({ message }: { message: string }) {
  return (
    <section class="trace-pane empty" aria-label="Trace">
      <h2>This trace can't be read</h2>
      <p>
        Its record is damaged; the others are not affected. Export the file
        again if you can.
      </p>
      <pre>{message.slice(0, 1000)}</pre>
      <Chip onClick={closeTrace}>Show the list</Chip>
    </section>
  );
}
