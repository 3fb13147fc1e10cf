import { batch } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { clicked } from "../dom.ts";
import { type ComparedRow, compareLayers } from "../model/compare.ts";
import {
  formatCount,
  formatDelta,
  formatDuration,
  formatMoment,
  formatPlural,
} from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { isFailedUnit, membersOf, type Unit, unitTime } from "../model/rows.ts";
import { summarize, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import { type TimeRange, wholeRange } from "../model/time_range.ts";
import type { TraceTree } from "../model/tree.ts";
import { comparison, wantedCompare, wantedTrace } from "../state/opened.ts";
import {
  openTrace,
  selectedIndex,
  selectedRow,
  selectRow,
  toggleRow,
} from "../state/selection.ts";
import {
  Cell,
  Chip,
  classes,
  Flag,
  Indent,
  Request,
  Status,
  Swatch,
  Tool,
  Twist,
} from "./controls.tsx";
import { VirtualGrid } from "./virtual_grid.tsx";
import { UnitBar } from "./waterfall_row.tsx";

/** Which two traces are compared, and what became of their layers. */
export function CompareHeader({ a, b }: { a: TraceTree; b: TraceTree }) {
  const [left, right] = useMemo(
    () => [summarize(a.trace), summarize(b.trace)] as const,
    [a, b],
  );
  return (
    <>
      <header class="compare-header">
        <Side mark="A" entry={left} />
        <Side mark="B" entry={right} />
        <div class="compare-actions">
          <strong>{formatDelta(right.duration - left.duration)}</strong>
          <Chip onClick={swap}>Swap</Chip>
          <Tool
            icon="close"
            label="Close the comparison"
            onClick={() => {
              wantedCompare.value = "";
            }}
          />
        </div>
      </header>
      <LayerComparison a={left} b={right} />
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
      onClick={() => openTrace(entry.key)}
    >
      <span class="side-mark">{mark}</span>
      <span class="side-path">
        <Request {...entry} />
      </span>
      <span class="side-facts">
        <Status code={entry.statusCode} />
        <strong>{formatDuration(entry.duration)}</strong>
        <span>{formatPlural(entry.spanCount, "span")}</span>
        <span class="muted">{formatMoment(entry.startTime)}</span>
      </span>
    </Chip>
  );
}

function LayerComparison({ a, b }: { a: TraceEntry; b: TraceEntry }) {
  const layers = compareLayers(a.layers, b.layers);
  const longest = mostOf(layers, ({ a, b }) => Math.max(a, b)) || 1;
  return (
    <table class="compare-layers">
      <caption>Self time per layer</caption>
      <thead>
        <tr>
          <th scope="col">Layer</th>
          <th scope="col">A</th>
          <th scope="col">B</th>
          <th scope="col">B − A</th>
          <td />
        </tr>
      </thead>
      <tbody>
        {layers.map((row) => (
          <tr key={row.layer}>
            <th scope="row">
              <Swatch layer={row.layer} />
              {row.layer}
            </th>
            <td>{formatDuration(row.a)}</td>
            <td>{formatDuration(row.b)}</td>
            <td class={deltaClass(row.b - row.a, row.a)}>
              {formatDelta(row.b - row.a)}
            </td>
            <td class="pair">
              {[row.a, row.b].map((time, i) => (
                <span
                  key={i}
                  class={i === 0 ? "pair-a" : "pair-b"}
                  style={{
                    width: `${(time / longest) * 100}%`,
                    background: `var(--layer-${row.layer})`,
                  }}
                />
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Two traces, span by span. */
export function CompareGrid({ rows }: { rows: readonly ComparedRow[] }) {
  const scales = useMemo(() => commonScale(rows), [rows]);
  const id = selectedRow.value;
  return (
    <VirtualGrid
      id="compare-spans"
      label="Compared spans"
      role="treegrid"
      place="trace"
      items={rows}
      rowHeight={28}
      active={selectedIndex.value}
      rowId={rowId}
      reveal={[id]}
      onClick={select}
      head={
        <>
          <span role="columnheader" class="name">Span</span>
          <span role="columnheader" class="duration">A</span>
          <span role="columnheader" class="duration">B</span>
          <span role="columnheader" class="duration">B − A</span>
          <span role="columnheader" class="lane">A above, B below</span>
        </>
      }
      row={(row, index) => (
        <CompareRow
          key={index}
          row={row}
          index={index}
          scales={scales}
          selected={index === selectedIndex.value}
        />
      )}
    />
  );
}

function rowId({ id }: ComparedRow): string {
  return `pair-${id}`;
}

/** A click on what is of B selects the span of B. */
function select(event: MouseEvent): void {
  const target = event.target as Element;
  const row = comparison.value?.rows[Number(clicked(event, "index"))];
  if (row === undefined) return;
  if (clicked(event, "twist")) toggleRow(row);
  else if (row.b && target.closest(".pair-b")) selectedRow.value = row.b.id;
  else if (row.a && target.closest(".pair-a")) selectedRow.value = row.a.id;
  else selectRow(row);
}

/** The time that both sides have room for, from when each of them began. */
function commonScale(
  rows: readonly ComparedRow[],
): readonly [a: TimeRange, b: TimeRange] {
  const ranges = (["a", "b"] as const).map((side) => {
    const nodes = rows.flatMap(({ [side]: unit }) =>
      unit ? membersOf(unit) : []
    );
    const start = -mostOf(nodes, ({ span }) => -span.startTime, -Infinity);
    return { start, end: mostOf(nodes, ({ span }) => span.endTime) };
  });
  const length = mostOf(ranges, ({ start, end }) => end - start);
  const [a, b] = ranges.map(({ start }) => wholeRange(start, start + length));
  return [a!, b!];
}

interface CompareRowProps {
  readonly row: ComparedRow;
  readonly index: number;
  readonly scales: readonly [a: TimeRange, b: TimeRange];
  readonly selected: boolean;
}

function CompareRow({ row, index, scales, selected }: CompareRowProps) {
  const { a, b, expandable, expanded } = row;
  const { span } = (a ?? b!).node;
  const only = a === undefined ? "B" : b === undefined ? "A" : "";
  const before = a ? unitTime(a) : 0;
  const delta = (b ? unitTime(b) : 0) - before;
  const there = [a, b].filter((unit) => unit !== undefined);
  const counts = new Set(there.map((unit) => membersOf(unit).length));
  return (
    <div
      class={classes("row", only && "only", selected && "selected")}
      role="row"
      id={rowId(row)}
      data-index={index}
      aria-level={row.depth + 1}
      aria-rowindex={index + 2}
      aria-selected={selected}
      aria-expanded={expandable ? expanded : undefined}
    >
      <Cell of="name">
        <Indent depth={row.depth} />
        <Twist {...row} />
        <Swatch layer={span.layer} />
        <span class="label">{cutText(span.name, 200)}</span>
        {expandable && (
          <span class="times">
            {[...counts].map((count) => `× ${formatCount(count)}`).join(" → ")}
          </span>
        )}
        {there.some(isFailedUnit) && <Flag label="failed" />}
        {only !== "" && <span class="tag">only {only}</span>}
      </Cell>
      <TimeCell side="a" unit={a} />
      <TimeCell side="b" unit={b} />
      <Cell of={`duration ${deltaClass(delta, before)}`}>
        {formatDelta(delta)}
      </Cell>
      <Cell of="lane">
        {a && <UnitBar class="bar pair-a" unit={a} visible={scales[0]} />}
        {b && <UnitBar class="bar pair-b" unit={b} visible={scales[1]} />}
      </Cell>
    </div>
  );
}

function TimeCell({ side, unit }: { side: "a" | "b"; unit: Unit | undefined }) {
  if (unit === undefined) return <Cell of="duration muted">–</Cell>;
  return (
    <Cell of={`duration pair-${side}${isFailedUnit(unit) ? " bad" : ""}`}>
      {formatDuration(unitTime(unit))}
    </Cell>
  );
}

/** Whether a difference is worth a colour: a fifth, and a millisecond. */
function deltaClass(delta: number, before: number): string {
  if (Math.abs(delta) < Math.max(1, before / 5)) return "muted";
  return delta > 0 ? "slower" : "faster";
}
