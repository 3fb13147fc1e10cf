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

/** Maximum rows, the ones with the most self time. */
const MAX_ROWS = 200;

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
        <table class="compare-layers">
          <caption>
            A: {formatPlural(a?.runs.length ?? 0, "run")}
            {b && `, B: ${formatPlural(b.runs.length, "run")}`}
            . The newest are counted. Self: the median self time
          </caption>
          <Head isPair={b !== undefined} />
          <tbody>
            {spanRows.value.slice(0, MAX_ROWS).map((row) => (
              <SpanLine
                key={`${row.layer} ${row.name}`}
                row={row}
                isPair={b !== undefined}
              />
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const FIGURES = ["per run", "p50", "p95", "self"];

function Head({ isPair }: { isPair: boolean }) {
  const sides = isPair ? ["A ", "B "] : [""];
  const names = sides.flatMap((side) => FIGURES.map((name) => side + name));
  return (
    <thead>
      <tr>
        {["Span", ...names, ...(isPair ? ["B − A p50"] : [])].map((name) => (
          <th scope="col" key={name}>{name}</th>
        ))}
      </tr>
    </thead>
  );
}

function SpanLine({ row, isPair }: { row: SpanRow; isPair: boolean }) {
  const { layer, name, a, b } = row;
  return (
    <tr>
      <th scope="row">
        <Swatch layer={layer} />
        {cutText(name, 120)}
      </th>
      <Figures of={a} />
      {isPair && <Figures of={b} />}
      {isPair && <td>{a && b ? formatDelta(b.p50 - a.p50) : "–"}</td>}
    </tr>
  );
}

function Figures({ of }: { of: SpanStats | undefined }) {
  const texts = of === undefined ? FIGURES.map(() => "–") : [
    String(Number(of.perRun.toFixed(1))),
    formatDuration(of.p50),
    formatDuration(of.p95),
    formatDuration(of.self),
  ];
  return <>{texts.map((text, i) => <td key={i}>{text}</td>)}</>;
}
