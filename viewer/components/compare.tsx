/**
 * Two traces next to each other.
 *
 * @module
 */

import { batch } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { clicked } from "../dom.ts";
import { type ComparedRow, compareLayers } from "../model/compare.ts";
import { formatCount, formatDelta, formatDuration } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { isFailedUnit, type Unit, unitTime } from "../model/rows.ts";
import type { TraceEntry } from "../model/summary.ts";
import { wholeRange } from "../model/time_range.ts";
import { wantedCompare, wantedTrace } from "../state/opened.ts";
import { placeText } from "../state/evidence.ts";
import * as selection from "../state/selection.ts";
import { momentText } from "../state/settings.ts";
import {
  Chip,
  classes,
  Flag,
  Outcome,
  Swatch,
  Title,
  Tool,
} from "./controls.tsx";
import { type Column, column, Grid } from "./grid.tsx";
import { SpanLabel, UnitBar } from "./bars.tsx";
import { Table, type TableColumn } from "./table.tsx";

type Sides = Readonly<Record<"a" | "b", TraceEntry>>;

/** The two compared traces, and the difference of their layers. */
export function CompareHeader({ a, b }: Sides) {
  return (
    <>
      <header class="compare-header">
        <Side mark="A" entry={a} />
        <Side mark="B" entry={b} />
        <div class="compare-actions">
          <strong>{formatDelta(b.duration - a.duration)}</strong>
          <Chip onClick={swap}>Swap</Chip>
          <Tool
            icon="close"
            label="Close the comparison"
            onClick={() => wantedCompare.value = ""}
          />
        </div>
      </header>
      <LayerComparison a={a} b={b} />
    </>
  );
}

function swap(): void {
  batch(() => {
    const first = wantedTrace.value;
    wantedTrace.value = wantedCompare.value;
    wantedCompare.value = first;
  });
}

function Side({ mark, entry }: { mark: "A" | "B"; entry: TraceEntry }) {
  return (
    <Chip
      class="side"
      title="Open this trace alone"
      onClick={() => selection.openTrace(entry.key)}
    >
      <span class="side-mark">{mark}</span>
      <span class="side-path">
        <Title entry={entry} />
      </span>
      <span class="side-facts">
        <Outcome entry={entry} />
        <span class="muted">{momentText(entry.startTime)}</span>
        <span class="muted">{placeText(entry)}</span>
      </span>
    </Chip>
  );
}

function LayerComparison({ a, b }: Sides) {
  const layers = compareLayers(a.layers, b.layers);
  const longest = mostOf(layers, ({ a, b }) => Math.max(a, b)) || 1;
  const columns: TableColumn<typeof layers[number]>[] = [
    ["Layer", ({ layer }) => (
      <>
        <Swatch layer={layer} />
        {layer}
      </>
    )],
    ["A", ({ a }) => formatDuration(a)],
    ["B", ({ b }) => formatDuration(b)],
    [
      "B − A",
      ({ a, b }) => formatDelta(b - a),
      ({ a, b }) => deltaClass(b - a, a),
    ],
    [
      "",
      ({ layer, a, b }) =>
        Object.entries({ a, b }).map(([side, time]) => (
          <span
            key={side}
            class={`pair-${side}`}
            style={{
              width: `${(time / longest) * 100}%`,
              background: `var(--layer-${layer})`,
            }}
          />
        )),
      () => "pair",
    ],
  ];
  return <Table columns={columns} items={layers}>Self time per layer</Table>;
}

/**
 * Returns the class of a difference, coloured from a fifth and a millisecond
 * on.
 */
function deltaClass(delta: number, before: number): string {
  if (Math.abs(delta) < Math.max(1, before / 5)) return "muted";
  return delta > 0 ? "slower" : "faster";
}

/** Two traces, span by span. */
export function CompareGrid({ rows }: { rows: readonly ComparedRow[] }) {
  const columns = useMemo(() => columnsOf(rows), [rows]);
  const at = selection.selectedIndex.value;
  return (
    <Grid
      id="compare-spans"
      label="Compared spans"
      place="trace"
      items={rows}
      columns={columns}
      rowHeight={28}
      active={at}
      // Span ids may occur in both traces.
      idOf={(_, index) => String(index)}
      row={(row, index) => ({
        class: classes(
          "row",
          onlyIn(row) && "only",
          index === at && "selected",
        ),
        "aria-level": row.depth + 1,
        "aria-selected": index === at,
        "aria-expanded": row.expandable ? row.expanded : undefined,
      })}
      reveal={[selection.selectedRow.value]}
      onPick={select}
    />
  );
}

function columnsOf(rows: readonly ComparedRow[]): Column<ComparedRow>[] {
  const { a, b } = commonScale(rows);
  return [
    column("name", "Span", nameOf),
    timeColumn("a"),
    timeColumn("b"),
    column("duration", "B − A", (row) => formatDelta(deltaOf(row)), {
      look: (row) => deltaClass(deltaOf(row), timeOf(row.a)),
    }),
    column("lane", "A above, B below", (row) => (
      <>
        {row.a && <UnitBar class="bar pair-a" unit={row.a} visible={a} />}
        {row.b && <UnitBar class="bar pair-b" unit={row.b} visible={b} />}
      </>
    )),
  ];
}

function timeColumn(side: "a" | "b"): Column<ComparedRow> {
  return {
    name: `duration pair-${side}`,
    label: side.toUpperCase(),
    look: ({ [side]: unit }) =>
      unit === undefined ? "muted" : isFailedUnit(unit) ? "bad" : "",
    cell: ({ [side]: unit }) => unit ? formatDuration(unitTime(unit)) : "–",
  };
}

function nameOf(row: ComparedRow) {
  const { span } = (row.a ?? row.b!).node;
  const units = [row.a, row.b].filter((unit) => unit !== undefined);
  const counts = new Set(units.map((unit) => unit.members.length));
  const only = onlyIn(row);
  return (
    <>
      <SpanLabel row={row} span={span} />
      {row.expandable && (
        <span class="times">
          {[...counts].map((count) => `× ${formatCount(count)}`).join(" → ")}
        </span>
      )}
      {units.some(isFailedUnit) && <Flag label="failed" />}
      {only !== "" && <span class="tag">only {only}</span>}
    </>
  );
}

/** Returns the side of a row with only one side, or an empty text. */
function onlyIn({ a, b }: ComparedRow): string {
  return a === undefined ? "B" : b === undefined ? "A" : "";
}

function timeOf(unit: Unit | undefined): number {
  return unit === undefined ? 0 : unitTime(unit);
}

function deltaOf({ a, b }: ComparedRow): number {
  return timeOf(b) - timeOf(a);
}

/** Selects the clicked row. A bar or a time selects its own side. */
function select(row: ComparedRow, event: MouseEvent): void {
  const isIn = (part: string) => (event.target as Element).closest(part);
  const side = isIn(".pair-a") ? row.a : isIn(".pair-b") ? row.b : undefined;
  if (clicked(event, "twist")) selection.toggleRow(row);
  else if (side !== undefined) selection.selectedRow.value = side.id;
  else selection.selectRow(row);
}

/** The duration for both sides, from the start of each. */
function commonScale(rows: readonly ComparedRow[]) {
  const rangeOf = (side: "a" | "b") => {
    const nodes = rows.flatMap(({ [side]: unit }) => unit?.members ?? []);
    const start = -mostOf(nodes, ({ span }) => -span.startTime, -Infinity);
    return { start, end: mostOf(nodes, ({ span }) => span.endTime) };
  };
  const a = rangeOf("a");
  const b = rangeOf("b");
  const length = Math.max(a.end - a.start, b.end - b.start);
  return {
    a: wholeRange(a.start, a.start + length),
    b: wholeRange(b.start, b.start + length),
  };
}
