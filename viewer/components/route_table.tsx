import { useLayoutEffect } from "preact/hooks";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import type { RouteColumn, RouteStats } from "../model/route_stats.ts";
import { cutText } from "../model/text.ts";
import { routeOrder, routes } from "../state/listing.ts";
import { openRoute } from "../state/moves.ts";
import { cursorKey } from "../state/selection.ts";
import { useVirtualRows } from "./use_virtual_rows.ts";

const ROW_HEIGHT = 28;

const COLUMNS: readonly { id: RouteColumn; label: string }[] = [
  { id: "route", label: "Route" },
  { id: "count", label: "Count" },
  { id: "p50", label: "p50" },
  { id: "p95", label: "p95" },
  { id: "p99", label: "p99" },
  { id: "max", label: "Max" },
  { id: "errorRate", label: "Errors" },
];

/** Statistics per route. A click shows the traces of one. */
export function RouteTable() {
  const list = routes.value;
  const rows = useVirtualRows(list.length, ROW_HEIGHT, ROW_HEIGHT);
  const cursor = cursorKey.value;
  const at = list.findIndex(({ key }) => key === cursor);
  const longest = list.reduce((most, { p95 }) => Math.max(most, p95), 0);
  useLayoutEffect(() => rows.reveal(at), [cursor]);
  return (
    <div
      class="grid route-table"
      role="grid"
      id="route-table"
      aria-label="Routes"
      aria-rowcount={list.length + 1}
      aria-activedescendant={at >= rows.first && at < rows.end
        ? `route-${at}`
        : undefined}
      tabIndex={0}
      data-place="list"
      ref={rows.ref}
      onClick={(event) => {
        const row = (event.target as Element).closest<HTMLElement>(
          "[data-route]",
        );
        if (row?.dataset.route !== undefined) openRoute(row.dataset.route);
      }}
    >
      <div class="grid-head" role="row">
        {COLUMNS.map((column) => <ColumnHead key={column.id} {...column} />)}
      </div>
      <div
        class="rows"
        role="rowgroup"
        style={{ height: `${list.length * ROW_HEIGHT}px` }}
      >
        {list.slice(rows.first, rows.end).map((stats, i) => (
          <RouteRow
            key={stats.key}
            stats={stats}
            index={rows.first + i}
            cursor={stats.key === cursor}
            longest={longest}
          />
        ))}
      </div>
    </div>
  );
}

function ColumnHead({ id, label }: { id: RouteColumn; label: string }) {
  const { column, descending } = routeOrder.value;
  const sorted = column === id
    ? descending ? "descending" : "ascending"
    : undefined;
  return (
    <span role="columnheader" class={id} aria-sort={sorted}>
      <button
        type="button"
        tabIndex={-1}
        onClick={() => {
          routeOrder.value = {
            column: id,
            descending: column === id ? !descending : id !== "route",
          };
        }}
      >
        {label}
      </button>
    </span>
  );
}

interface RouteRowProps {
  readonly stats: RouteStats;
  readonly index: number;
  readonly cursor: boolean;
  /** The longest p95 of all routes, for the bars. */
  readonly longest: number;
}

function RouteRow({ stats, index, cursor, longest }: RouteRowProps) {
  const share = longest === 0 ? 0 : stats.p95 / longest;
  return (
    <div
      class={cursor ? "row cursor" : "row"}
      role="row"
      id={`route-${index}`}
      aria-rowindex={index + 2}
      data-route={stats.key}
      style={{ transform: `translateY(${index * ROW_HEIGHT}px)` }}
    >
      <span role="gridcell" class="route" title={cutText(stats.key, 500)}>
        <span class="method">{cutText(stats.method, 20)}</span>{" "}
        {cutText(stats.route, 300)}
      </span>
      <span role="gridcell" class="count">{formatCount(stats.count)}</span>
      <span role="gridcell" class="p50">{formatDuration(stats.p50)}</span>
      <span role="gridcell" class="p95">
        <span class="p95-bar" style={{ width: `${share * 100}%` }} />
        {formatDuration(stats.p95)}
      </span>
      <span role="gridcell" class="p99">{formatDuration(stats.p99)}</span>
      <span role="gridcell" class="max">{formatDuration(stats.max)}</span>
      <span
        role="gridcell"
        class={stats.errorRate > 0 ? "errorRate bad" : "errorRate"}
      >
        {formatShare(stats.errorRate)}
      </span>
    </div>
  );
}
