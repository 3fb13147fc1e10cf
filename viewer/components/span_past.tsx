import type { SpanData } from "../../trace/types.ts";
import { formatDuration, formatPlural, formatShare } from "../model/format.ts";
import { mostOf } from "../model/numbers.ts";
import { pastOf } from "../model/past.ts";
import type { TraceTree } from "../model/tree.ts";
import { historyOf } from "../state/span_history.ts";
import { Section } from "./controls.tsx";

const HEIGHT = 22;
const BAR = 5;

/** Compares a span with its runs in other traces of the route. */
export function SpanPast({ span, tree }: { span: SpanData; tree: TraceTree }) {
  const times = historyOf(span, tree);
  const past = times && pastOf(span.duration, times);
  if (past === undefined) return null;
  const { count, faster, least, most, bars, own } = past;
  const highest = mostOf(bars, (bar) => bar, 1);
  const runs = `${formatPlural(count, "run")} on this route`;
  return (
    <Section label="History" title="History">
      <p>
        {faster > 0
          ? `Slower than ${formatShare(faster)} of ${runs}`
          : `Faster than all ${runs}`}
      </p>
      <svg
        class="past"
        viewBox={`0 0 ${bars.length * BAR} ${HEIGHT}`}
        role="img"
        aria-label={`From ${formatDuration(least)} to ${formatDuration(most)}`}
      >
        {bars.map((bar, i) => {
          const height = bar === 0 ? 0 : Math.max(bar / highest * HEIGHT, 1.5);
          return (
            <rect
              key={i}
              class={i === own ? "own" : ""}
              x={i * BAR}
              y={HEIGHT - height}
              width={BAR - 1}
              height={height}
            />
          );
        })}
        <path d={`M${own * BAR + 2} 0v${HEIGHT}`} />
      </svg>
      <p class="past-ends muted">
        <span>{formatDuration(least)}</span>
        <span>{formatDuration(most)}</span>
      </p>
    </Section>
  );
}
