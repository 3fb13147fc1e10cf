import { computed } from "@preact/signals";
import { formatCount, formatDuration, formatShare } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import type { RouteStats } from "../model/route_stats.ts";
import { cutText } from "../model/text.ts";
import { routeOrder, routes } from "../state/listing.ts";
import { cursorKey, openRoute } from "../state/selection.ts";
import { Request } from "./controls.tsx";
import { type Column, column, Grid } from "./grid.tsx";

const COLUMNS: readonly Column<RouteStats>[] = [
  column(
    "route",
    "Route",
    ({ method, route }) => <Request method={method} path={route} />,
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
