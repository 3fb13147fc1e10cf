import { createElement } from "preact";
import { helpOpen } from "../state/keyboard.ts";
import { listTab } from "../state/listing.ts";
import { dismiss, notices } from "../state/notices.ts";
import { wantedTrace } from "../state/opened.ts";
import { isShown } from "../state/route_spans.ts";
import { listHidden } from "../state/selection.ts";
import { sizeStyle } from "../state/sizes.ts";
import { dataState, entries, pending } from "../state/traces.ts";
import { CacheView } from "./cache_view.tsx";
import { classes, Tool } from "./controls.tsx";
import { EmptyState } from "./empty_state.tsx";
import { FoundTable } from "./found_table.tsx";
import { FilterBar } from "./filter_bar.tsx";
import { HelpDialog } from "./help_dialog.tsx";
import { RouteTable, TraceList } from "./lists.tsx";
import { Splitter } from "./splitter.tsx";
import { RoutePane } from "./route_pane.tsx";
import { TopBar } from "./top_bar.tsx";
import { TracePane } from "./trace_pane.tsx";

const LISTS = {
  traces: TraceList,
  routes: RouteTable,
  findings: FoundTable,
  cache: CacheView,
};

/** The page. */
export function App() {
  const route = isShown();
  const open = wantedTrace.value !== "" || route;
  const nothing = entries.value.length === 0 && pending.value.length === 0;
  return (
    <div
      class={classes(
        "app",
        open && "with-trace",
        open && listHidden.value && "list-hidden",
      )}
      style={sizeStyle()}
    >
      <TopBar />
      {nothing && !(open && dataState.value.kind === "ready")
        ? <EmptyState />
        : (
          <>
            <FilterBar />
            <main class="panes">
              <section class="list-pane" aria-label="List">
                {createElement(LISTS[listTab.value], null)}
              </section>
              {open && <Splitter pane="list" />}
              {route ? <RoutePane /> : open && <TracePane />}
            </main>
          </>
        )}
      <Notices />
      {helpOpen.value && <HelpDialog />}
    </div>
  );
}

/** Short messages at the lower edge. */
function Notices() {
  return (
    <div class="notices" role="status">
      {notices.value.map(({ id, text, failed }) => (
        <p key={id} class={failed ? "notice failed" : "notice"}>
          <span>{text.slice(0, 400)}</span>
          {failed && (
            <Tool
              icon="close"
              label="Close the message"
              onClick={() => dismiss(id)}
            />
          )}
        </p>
      ))}
    </div>
  );
}
