/**
 * The tables of the list: traces, and statistics per route.
 *
 * @module
 */

import { computed } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import type { RouteStats } from "../model/listing.ts";
import { mostOf } from "../model/numbers.ts";
import { isFailedTrace, type TraceEntry } from "../model/summary.ts";
import { changedText, type DevRun, withRuns } from "../model/runs.ts";
import { cutText } from "../model/text.ts";
import * as listing from "../state/listing.ts";
import * as opened from "../state/opened.ts";
import { openSlowest } from "../state/evidence.ts";
import { openRouteSpans } from "../state/route_spans.ts";
import { runs } from "../state/dev_command.ts";
import * as selection from "../state/selection.ts";
import { clockText, momentText, zoneText } from "../state/settings.ts";
import * as traces from "../state/traces.ts";
import { Chip, classes, Status, timeText } from "./controls.tsx";
import { type Column, column, type Divider, Grid } from "./grid.tsx";
import { barColumn, PathCell, RowButton } from "./list_cells.tsx";

const ROW_HEIGHT = 28;

/** Kinds with another text in the list, where there is little room. */
const KIND_TEXTS: ReadonlyMap<string, string> = new Map([
  ["page load", "page"],
  ["navigation", "navigate"],
]);

/** The columns of the list. A new list draws all cells again. */
const traceColumns = computed((): Column<TraceEntry>[] => [
  column("startTime", `Time ${zoneText()}`, (entry) => (
    clockText(entry.startTime)
  ), { title: ({ startTime }) => momentText(startTime) }),
  column(
    "kind",
    "Kind",
    ({ kind }) => KIND_TEXTS.get(kind) ?? cutText(kind, 20),
    {
      title: ({ kind }) => cutText(kind, 20),
      hint:
        "Page load, navigation, click, submit, key, method of a request, job",
    },
  ),
  column("path", "Path", (entry) => <PathCell entry={entry} />, {
    title: ({ path }) => cutText(path, 500),
  }),
  column("statusCode", "Status", (entry) => <Status entry={entry} />),
  column("duration", "Duration", timeText),
  column("spanCount", "Spans", ({ spanCount }) => formatCount(spanCount)),
  barColumn(),
]);

/** The rows of the list: traces, and in order of time the starts of runs. */
const rowsWithRuns = computed(() => {
  const { column, descending } = listing.listOrder.value;
  return column === "startTime" && descending
    ? withRuns(listing.listed.value, runs.value, runRow)
    : listing.listed.value;
});

function runRow({ start, changed, comparisons }: DevRun): Divider {
  return {
    key: `run-${start}`,
    divider: (
      <>
        {`Restarted ${clockText(start).slice(0, 5)}${changedText(changed)}`}
        {comparisons.filter(({ verdict }) => verdict !== "same").map((one) => (
          <Chip
            key={one.route}
            class={`link ${one.verdict}`}
            title="Compare a request before with one after"
            onClick={() => openComparison(one)}
          >
            {cutText(`${one.route}: ${one.difference}`, 200)}
          </Chip>
        ))}
      </>
    ),
  };
}

function openComparison({ before, after }: DevRun["comparisons"][number]) {
  selection.openTrace(before.traceId);
  opened.wantedCompare.value = after.traceId;
}

/** The list of traces. */
export function TraceList() {
  const list = rowsWithRuns.value;
  const cursor = selection.cursorKey.value;
  const open = [opened.wantedTrace.value, opened.wantedCompare.value];
  const marked = selection.markedKey.value;
  useLayoutEffect(() => () => {
    traces.listAtTop.value = true;
    traces.setListInUse(false);
  }, []);
  return (
    <Grid
      id="trace-list"
      label="Traces"
      place="list"
      items={list}
      columns={traceColumns.value}
      order={listing.listOrder}
      rowHeight={ROW_HEIGHT}
      active={cursor === "" ? -1 : list.findIndex(({ key }) => key === cursor)}
      idOf={({ key }) => key}
      row={(entry) => ({
        class: classes(
          "row",
          open.includes(entry.key) && "selected",
          entry.key === cursor && "cursor",
          isFailedTrace(entry) && "failed",
          entry.pending && "pending",
          entry.key === marked && "marked",
        ),
        "aria-selected": open.includes(entry.key),
      })}
      onUse={traces.setListInUse}
      reveal={[cursor, listing.filters.value, listing.query.value]}
      onScroll={(top) => traces.listAtTop.value = top < ROW_HEIGHT / 2}
      onPick={({ key }) => selection.openTrace(key)}
    >
      {list.length === 0 && (
        <div class="no-rows" role="row">
          <span role="gridcell">
            No trace matches.{" "}
            <Chip class="link" onClick={listing.clearFilters}>Show all</Chip>
          </span>
        </div>
      )}
      {listing.newText.value !== "" && !traces.paused.value && (
        <Chip class="new-pill" onClick={showNew}>{listing.newText.value}</Chip>
      )}
    </Grid>
  );
}

function showNew(): void {
  traces.showHeld();
  document.querySelector("#trace-list")!.scrollTop = 0;
}

const ROUTE_COLUMNS: readonly Column<RouteStats>[] = [
  column(
    "route",
    "Route",
    ({ route }) => cutText(route, 300),
    { title: ({ key }) => cutText(key, 500) },
  ),
  column("count", "Count", ({ count }) => formatCount(count)),
  column("p50", "p50", ({ p50 }) => formatDuration(p50)),
  column("p95", "p95", ({ p95 }) => (
    <>
      <span
        class="p95-bar"
        style={{ width: `${p95 / longest.value * 100}%` }}
      />
      {formatDuration(p95)}
    </>
  )),
  column("p99", "p99", ({ p99 }) => formatDuration(p99)),
  column("max", "Max", ({ max }) => formatDuration(max)),
  column("errorRate", "Errors", ({ errorRate }) => formatShare(errorRate), {
    look: ({ errorRate }) => errorRate > 0 ? "bad" : "",
  }),
  column("compare", "Compare", RouteActions, { fixed: true }),
];

function RouteActions({ key: route }: RouteStats) {
  return (
    <>
      <RowButton
        row={route}
        title="The spans of this route, alone or beside another route"
        onClick={() => openRouteSpans(route)}
      >
        Spans
      </RowButton>
      <RowButton
        row={route}
        title="Compare the slowest trace with the one of median duration"
        onClick={() => openSlowest(route)}
      >
        Slowest
      </RowButton>
    </>
  );
}

/** The longest p95 of all routes. */
const longest = computed(() =>
  mostOf(listing.routes.value, ({ p95 }) => p95) || 1
);

/** Statistics per route. A click shows the traces of one. */
export function RouteTable() {
  const list = listing.routes.value;
  const cursor = selection.cursorKey.value;
  return (
    <Grid
      id="route-table"
      label="Routes"
      place="list"
      items={list}
      columns={ROUTE_COLUMNS}
      order={listing.routeOrder}
      rowHeight={28}
      active={list.findIndex(({ key }) => key === cursor)}
      idOf={({ key }) => key}
      row={({ key }) => ({ class: key === cursor ? "row cursor" : "row" })}
      reveal={[cursor]}
      onPick={({ key }) => selection.openRoute(key)}
    />
  );
}
