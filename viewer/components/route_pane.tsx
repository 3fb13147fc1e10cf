/**
 * Compares the spans of a route with another route, or with its earlier runs.
 *
 * @module
 */

import { formatDelta, formatDuration, formatPlural } from "../model/format.ts";
import type { SpanRow, SpanStats } from "../model/route_spans.ts";
import { cutText } from "../model/text.ts";
import { openSlowest } from "../state/evidence.ts";
import { routes } from "../state/listing.ts";
import {
  EARLIER,
  openRoute,
  openRouteSpans,
  otherRoute,
  sides,
  spanRows,
} from "../state/route_spans.ts";
import { Chip, Swatch, Tool } from "./controls.tsx";
import { Table, type TableColumn } from "./table.tsx";

/** Maximum rows, the ones with the most self time. */
const MAX_ROWS = 200;

const FIGURES = [
  ["per run", ({ perRun }: SpanStats) => String(Number(perRun.toFixed(1)))],
  ["p50", ({ p50 }: SpanStats) => formatDuration(p50)],
  ["p95", ({ p95 }: SpanStats) => formatDuration(p95)],
  ["self", ({ self }: SpanStats) => formatDuration(self)],
] as const;

/** Returns the columns of a side. */
function figuresOf(side: "a" | "b", prefix = ""): TableColumn<SpanRow>[] {
  return FIGURES.map(([name, textOf]) => [
    `${prefix}${name}`,
    ({ [side]: stats }) => stats ? textOf(stats) : "–",
  ]);
}

const SPAN_COLUMN: TableColumn<SpanRow> = [
  "Span",
  ({ layer, name }) => (
    <>
      <Swatch layer={layer} />
      {cutText(name, 120)}
    </>
  ),
];

const COLUMNS = [SPAN_COLUMN, ...figuresOf("a")];

const PAIR_COLUMNS: readonly TableColumn<SpanRow>[] = [
  SPAN_COLUMN,
  ...figuresOf("a", "A "),
  ...figuresOf("b", "B "),
  ["B − A p50", ({ a, b }) => a && b ? formatDelta(b.p50 - a.p50) : "–"],
];

/** The spans of the open route. */
export function RoutePane() {
  const key = openRoute.value;
  const [a, b] = sides.value;
  return (
    <section class="trace-pane" aria-label="Spans of a route">
      <header class="route-header">
        <Tool
          icon="back"
          label="Close the route"
          onClick={() => openRouteSpans("")}
        />
        <h2>{cutText(key, 200)}</h2>
        <label>
          Compare with
          <select
            value={otherRoute.value}
            onChange={(event) => otherRoute.value = event.currentTarget.value}
          >
            <option value="">nothing</option>
            <option value={EARLIER}>its earlier half</option>
            {routes.value.filter((route) => route.key !== key).map((route) => (
              <option key={route.key} value={route.key}>
                {cutText(route.key, 80)}
              </option>
            ))}
          </select>
        </label>
        <Chip
          title="Compare the slowest trace with the one of median duration"
          onClick={() => openSlowest(key)}
        >
          Slowest and median
        </Chip>
      </header>
      <div
        class="route-spans"
        role="region"
        aria-label="Spans"
        data-own-keys
        tabIndex={0}
      >
        <Table
          columns={b === undefined ? COLUMNS : PAIR_COLUMNS}
          items={spanRows.value.slice(0, MAX_ROWS)}
        >
          A: {formatPlural(a?.runs.length ?? 0, "run")}
          {b && `, B: ${formatPlural(b.runs.length, "run")}`}
          . The newest are counted. Self: the median self time
        </Table>
      </div>
    </section>
  );
}
