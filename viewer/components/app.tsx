import { Fragment } from "preact";
import { useEffect } from "preact/hooks";
import { cutText } from "../model/text.ts";
import { importFiles } from "../state/files.ts";
import { helpOpen } from "../state/keyboard.ts";
import { listTab } from "../state/listing.ts";
import { listHidden, opened, wantedTrace } from "../state/selection.ts";
import { dataState, entries, pending } from "../state/traces.ts";
import { EmptyState } from "./empty_state.tsx";
import { FilterBar } from "./filter_bar.tsx";
import { HelpDialog } from "./help_dialog.tsx";
import { Notices } from "./notices.tsx";
import { RouteTable } from "./route_table.tsx";
import { TopBar } from "./top_bar.tsx";
import { TraceList } from "./trace_list.tsx";
import { TracePane } from "./trace_pane.tsx";

/** The page. */
export function App() {
  const open = wantedTrace.value !== "";
  const nothing = entries.value.length === 0 && pending.value.length === 0;
  const classes = [
    "app",
    open ? "with-trace" : "",
    open && listHidden.value ? "list-hidden" : "",
  ].join(" ");
  usePageTitle();
  useDroppedFiles();
  return (
    <div class={classes}>
      <TopBar />
      {nothing && !(open && dataState.value.kind === "ready")
        ? <EmptyState />
        : (
          <Fragment>
            <FilterBar />
            <main class="panes">
              <section class="list-pane" aria-label="List">
                {listTab.value === "routes" ? <RouteTable /> : <TraceList />}
              </section>
              {open && <TracePane />}
            </main>
          </Fragment>
        )}
      <Notices />
      {helpOpen.value && <HelpDialog />}
    </div>
  );
}

function usePageTitle(): void {
  const entry = opened.value?.entry;
  const title = entry === undefined
    ? "Traces"
    : `${entry.method} ${cutText(entry.path, 80)} · Traces`.trim();
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** Takes files that are dropped anywhere on the page. */
function useDroppedFiles(): void {
  useEffect(() => {
    const root = document.documentElement;
    const over = (event: DragEvent) => {
      if (!event.dataTransfer?.types.includes("Files")) return;
      event.preventDefault();
      root.classList.add("dropping");
    };
    const leave = (event: DragEvent) => {
      if (event.relatedTarget === null) root.classList.remove("dropping");
    };
    const drop = (event: DragEvent) => {
      event.preventDefault();
      root.classList.remove("dropping");
      importFiles(event.dataTransfer?.files ?? []);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
      removeEventListener("dragover", over);
      removeEventListener("dragleave", leave);
      removeEventListener("drop", drop);
    };
  }, []);
}
