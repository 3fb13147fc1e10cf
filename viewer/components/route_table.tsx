import { clicked } from "../dom.ts";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import type { RouteColumn, RouteStats } from "../model/route_stats.ts";
import { cutText } from "../model/text.ts";
import { routeOrder, routes } from "../state/listing.ts";
import { openRoute } from "../state/moves.ts";
import { cursorKey } from "../state/selection.ts";
import { Cell, Request } from "./controls.tsx";
import { HeadCells, VirtualGrid } from "./virtual_grid.tsx";

const COLUMNS: readonly (readonly [RouteColumn, string])[] = [
  ["route", "Route"],
  ["count", "Count"],
  ["p50", "p50"],
  ["p95", "p95"],
  ["p99", "p99"],
  ["max", "Max"],
  ["errorRate", "Errors"],
];

/** Statistics per route. A click shows the traces of one. */
export function RouteTable() {
  const list = routes.value;
  const cursor = cursorKey.value;
  const longest = mostOf(list, ({ p95 }) => p95) || 1;
  return (
    <VirtualGrid
      id="route-table"
      label="Routes"
      role="grid"
      place="list"
      items={list}
      rowHeight={28}
      active={list.findIndex(({ key }) => key === cursor)}
      rowId={rowId}
      reveal={[cursor]}
      onClick={openClicked}
      head={<HeadCells columns={COLUMNS} order={routeOrder} />}
      row={(stats, index) => (
        <RouteRow
          key={stats.key}
          stats={stats}
          index={index}
          cursor={stats.key === cursor}
          share={stats.p95 / longest}
        />
      )}
    />
  );
}

function rowId({ key }: RouteStats): string {
  return `route-${key}`;
}

function openClicked(event: MouseEvent): void {
  const route = clicked(event, "route");
  if (route !== undefined) openRoute(route);
}

interface RouteRowProps {
  readonly stats: RouteStats;
  readonly index: number;
  readonly cursor: boolean;
  /** The p95 as a share of the longest p95 of all routes. */
  readonly share: number;
}

function RouteRow({ stats, index, cursor, share }: RouteRowProps) {
  return (
    <div
      class={cursor ? "row cursor" : "row"}
      role="row"
      id={rowId(stats)}
      aria-rowindex={index + 2}
      data-route={stats.key}
    >
      <Cell of="route" title={cutText(stats.key, 500)}>
        <Request method={stats.method} path={stats.route} />
      </Cell>
      <Cell of="count">{formatCount(stats.count)}</Cell>
      <Cell of="p50">{formatDuration(stats.p50)}</Cell>
      <Cell of="p95">
        <span class="p95-bar" style={{ width: `${share * 100}%` }} />
        {formatDuration(stats.p95)}
      </Cell>
      <Cell of="p99">{formatDuration(stats.p99)}</Cell>
      <Cell of="max">{formatDuration(stats.max)}</Cell>
      <Cell of={stats.errorRate > 0 ? "errorRate bad" : "errorRate"}>
        {formatShare(stats.errorRate)}
      </Cell>
    </div>
  );
}
