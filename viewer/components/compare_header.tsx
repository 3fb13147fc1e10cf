import { batch } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { compareLayers } from "../model/compare.ts";
import {
  formatDelta,
  formatDuration,
  formatMoment,
  formatPlural,
} from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { summarize, type TraceEntry } from "../model/summary.ts";
import type { TraceTree } from "../model/tree.ts";
import { wantedCompare, wantedTrace } from "../state/opened.ts";
import { openTrace } from "../state/selection.ts";
import { Chip, Request, Status, Swatch, Tool } from "./controls.tsx";

/** The two compared traces, and the difference of their layers. */
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
            onClick={() => wantedCompare.value = ""}
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

/** Returns the class of a difference, from a fifth and a millisecond on coloured. */
export function deltaClass(delta: number, before: number): string {
  if (Math.abs(delta) < Math.max(1, before / 5)) return "muted";
  return delta > 0 ? "slower" : "faster";
}
