import type { ComponentChildren } from "preact";
import { comparison, opened } from "../state/opened.ts";
import { closeTrace, selected, view } from "../state/selection.ts";
import { missing } from "../state/url_sync.ts";
import { CompareGrid, CompareHeader } from "./compare_view.tsx";
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
  if (open === undefined) return <MissingTrace />;
  if (open.kind === "broken") return <BrokenTrace message={open.message} />;
  const { entry, tree } = open;
  const both = comparison.value;
  return (
    <section
      class={selected.value ? "trace-pane with-details" : "trace-pane"}
      aria-label={both ? "Comparison" : "Trace"}
    >
      {both ? <CompareHeader a={both.a} b={both.b} /> : (
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
            : (
              <>
                <Minimap tree={tree} />
                <Waterfall />
              </>
            )}
        </div>
        {selected.value && <SpanPanel {...selected.value} />}
      </div>
    </section>
  );
}

function MissingTrace() {
  return (
    <NoTrace>
      {missing.value
        ? (
          <>
            <h2>This trace isn't here</h2>
            <p>
              It may be of another run of the server, or have made room for
              newer ones.
            </p>
          </>
        )
        : <p role="status">Looking for the trace…</p>}
    </NoTrace>
  );
}

function BrokenTrace({ message }: { message: string }) {
  return (
    <NoTrace>
      <h2>This trace can't be read</h2>
      <p>Its record is damaged; the others aren't.</p>
      <pre>{message.slice(0, 1000)}</pre>
    </NoTrace>
  );
}

/** What stands in place of a trace that can't be shown, and the way back. */
function NoTrace({ children }: { children: ComponentChildren }) {
  return (
    <section class="trace-pane empty" aria-label="Trace">
      {children}
      <Chip onClick={closeTrace}>Show the list</Chip>
    </section>
  );
}
