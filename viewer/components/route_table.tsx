import { computed } from "@preact/signals";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import type { RouteStats } from "../model/route_stats.ts";
import { cutText } from "../model/text.ts";
import { routeOrder, routes } from "../state/listing.ts";
import { openRoute } from "../state/moves.ts";
import { cursorKey } from "../state/selection.ts";
import { Request } from "./controls.tsx";
import { type Column, Grid } from "./grid.tsx";

const COLUMNS: readonly Column<RouteStats>[] = [
  {
    name: "route",
    label: "Route",
    title: ({ key }) => cutText(key, 500),
    cell: ({ method, route }) => <Request method={method} path={route} />,
  },
  { name: "count", label: "Count", cell: ({ count }) => formatCount(count) },
  { name: "p50", label: "p50", cell: ({ p50 }) => formatDuration(p50) },
  {
    name: "p95",
    label: "p95",
    cell: ({ p95 }) => (
      <>
        <span
          class="p95-bar"
          style={{ width: `${p95 / longest.value * 100}%` }}
        />
        {formatDuration(p95)}
      </>
    ),
  },
  { name: "p99", label: "p99", cell: ({ p99 }) => formatDuration(p99) },
  { name: "max", label: "Max", cell: ({ max }) => formatDuration(max) },
  {
    name: "errorRate",
    label: "Errors",
    look: ({ errorRate }) => errorRate > 0 ? "bad" : "",
    cell: ({ errorRate }) => formatShare(errorRate),
  },
];

/** The longest p95 of all routes. */
const longest = computed(() => mostOf(routes.value, ({ p95 }) => p95) || 1);

/** Statistics per route. A click shows the traces of one. */
export function RouteTable() {
  const list = routes.value;
  const cursor = cursorKey.value;
  return (
    <Grid
      id="route-table"
      label="Routes"
      role="grid"
      place="list"
      items={list}
      columns={COLUMNS}
      order={routeOrder}
      rowHeight={28}
      active={list.findIndex(({ key }) => key === cursor)}
      idOf={({ key }) => key}
      row={({ key }) => ({ class: key === cursor ? "row cursor" : "row" })}
      reveal={[cursor]}
      onPick={({ key }) => openRoute(key)}
    />
  );
}
