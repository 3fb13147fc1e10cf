import { useMemo } from "preact/hooks";
import {
  type ComparedRow,
  compareLayers,
  compareTrees,
} from "../model/compare.ts";
import {
  formatDelta,
  formatDuration,
  formatMoment,
  formatPlural,
} from "../model/format.ts";
import { barBox } from "../model/paint.ts";
import { summarize, type TraceEntry } from "../model/summary.ts";
import { cutText } from "../model/text.ts";
import { isFailed, type SpanNode, type TraceTree } from "../model/tree.ts";
import { openTrace, wantedCompare, wantedTrace } from "../state/selection.ts";
import { batch } from "@preact/signals";
import { Cell, Chip, Indent, Status, Swatch, Tool } from "./controls.tsx";
import { VirtualGrid } from "./virtual_grid.tsx";

/** Two traces side by side, span by span. */
export function CompareView({ a, b }: { a: TraceTree; b: TraceTree }) {
  const rows = useMemo(() => compareTrees(a, b), [a, b]);
  const [left, right] = useMemo(
    () => [summarize(a.trace), summarize(b.trace)] as const,
    [a, b],
  );
  return (
    <section class="trace-pane compare" aria-label="Comparison">
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
      <CompareGrid rows={rows} />
    </section>
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
    <button
      type="button"
      class="side"
      title="Open this trace alone"
      onClick={() => openTrace(entry.key)}
    >
      <span class="side-mark">{mark}</span>
      <span class="side-path">
        <span class="method">{cutText(entry.method, 20)}</span>{" "}
        {cutText(entry.path, 200)}
      </span>
      <span class="side-facts">
        <Status code={entry.statusCode} />
        <strong>{formatDuration(entry.duration)}</strong>
        <span>{formatPlural(entry.spanCount, "span")}</span>
        <span class="muted">{formatMoment(entry.startTime)}</span>
      </span>
    </button>
  );
}

function LayerComparison({ a, b }: { a: TraceEntry; b: TraceEntry }) {
  const layers = compareLayers(a.layers, b.layers);
  const longest =
    layers.reduce((most, row) => Math.max(most, row.a, row.b), 0) ||
    1;
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

function CompareGrid({ rows }: { rows: readonly ComparedRow[] }) {
  const scale = useMemo(() => commonScale(rows), [rows]);
  return (
    <VirtualGrid
      id="compare-spans"
      label="Compared spans"
      role="treegrid"
      place="trace"
      items={rows}
      rowHeight={28}
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
        <CompareRow key={index} row={row} index={index} {...scale} />
      )}
    />
  );
}

/** One scale for the bars of two traces that began at different times. */
interface Scale {
  /** When the two began. */
  readonly starts: readonly [number, number];
  /** How much time there is room for, in milliseconds. */
  readonly length: number;
}

function commonScale(rows: readonly ComparedRow[]): Scale {
  const starts = [Infinity, Infinity] as [number, number];
  const ends = [-Infinity, -Infinity] as [number, number];
  for (const { a, b } of rows) {
    for (const [side, node] of [a, b].entries()) {
      if (node === undefined) continue;
      starts[side] = Math.min(starts[side]!, node.span.startTime);
      ends[side] = Math.max(ends[side]!, node.span.endTime);
    }
  }
  return { starts, length: Math.max(ends[0] - starts[0], ends[1] - starts[1]) };
}

interface CompareRowProps extends Scale {
  readonly row: ComparedRow;
  readonly index: number;
}

function CompareRow({ row, index, starts, length }: CompareRowProps) {
  const node = row.a ?? row.b!;
  const only = row.a === undefined ? "B" : row.b === undefined ? "A" : "";
  const before = row.a?.span.duration ?? 0;
  const delta = (row.b?.span.duration ?? 0) - before;
  return (
    <div
      class={only === "" ? "row" : "row only"}
      role="row"
      aria-level={row.depth + 1}
      aria-rowindex={index + 2}
    >
      <Cell of="name">
        <Indent depth={row.depth} />
        <Swatch layer={node.span.layer} />
        <span class="label">{cutText(node.span.name, 200)}</span>
        {only !== "" && <span class="tag">only {only}</span>}
      </Cell>
      <DurationCell node={row.a} />
      <DurationCell node={row.b} />
      <Cell of={`duration ${deltaClass(delta, before)}`}>
        {formatDelta(delta)}
      </Cell>
      <Cell of="lane">
        <PairBar node={row.a} start={starts[0]} length={length} side="a" />
        <PairBar node={row.b} start={starts[1]} length={length} side="b" />
      </Cell>
    </div>
  );
}

function DurationCell({ node }: { node: SpanNode | undefined }) {
  if (node === undefined) return <Cell of="duration muted">–</Cell>;
  return (
    <Cell of={isFailed(node.span) ? "duration bad" : "duration"}>
      {formatDuration(node.span.duration)}
    </Cell>
  );
}

interface PairBarProps {
  readonly node: SpanNode | undefined;
  readonly start: number;
  readonly length: number;
  readonly side: "a" | "b";
}

function PairBar({ node, start, length, side }: PairBarProps) {
  if (node === undefined) return null;
  const { span } = node;
  const box = barBox(span.startTime, span.endTime, {
    start,
    end: start + (length || 1),
  });
  if (box === undefined) return null;
  return (
    <span
      class={`bar pair-${side}`}
      style={{
        left: `${box.left}%`,
        width: `${box.width}%`,
        background: `var(--layer-${span.layer})`,
      }}
    />
  );
}

/** Whether a difference is worth a colour: a fifth, and a millisecond. */
function deltaClass(delta: number, before: number): string {
  if (Math.abs(delta) < Math.max(1, before / 5)) return "muted";
  return delta > 0 ? "slower" : "faster";
}
